package eos

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

// askPause is the wait between two tries of a question that a coordinator
// which is still loading, or an unstable offset, left open.
const askPause = 20 * time.Millisecond

// ask repeats an administrative question while the broker says that it cannot
// answer yet.
func ask[T any](ctx context.Context, question func() (T, error)) (T, error) {
	for {
		answer, err := question()
		var code *kerr.Error
		if err == nil || !errors.As(err, &code) || !code.Retriable || !pause(ctx, askPause) {
			return answer, err
		}
	}
}

// stableOffsets reads the committed offsets of the group, waiting for
// transactions that are still being completed. A group that does not exist has
// none.
func stableOffsets(ctx context.Context, adm *kadm.Client, group string) (kadm.OffsetResponses, error) {
	return ask(ctx, func() (kadm.OffsetResponses, error) {
		got, err := adm.FetchOffsets(kadm.RequireStable(ctx), group)
		if errors.Is(err, kerr.GroupIDNotFound) {
			return nil, nil
		}
		if err == nil {
			err = got.Error()
		}
		return got, err
	})
}

// listTransactions lists transactional ids in one of the states, or in any.
func listTransactions(ctx context.Context, adm *kadm.Client, states ...string) (kadm.ListedTransactions, error) {
	return ask(ctx, func() (kadm.ListedTransactions, error) { return adm.ListTransactions(ctx, nil, states) })
}
