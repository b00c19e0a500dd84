package eos

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
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

// committedOffsets reads what the group has committed, without waiting for
// transactions that are still open: whether there is anything, not where to go
// on. A group that does not exist has nothing.
func committedOffsets(ctx context.Context, adm *kadm.Client, group string) (kadm.OffsetResponses, error) {
	return ask(ctx, func() (kadm.OffsetResponses, error) {
		got, err := adm.FetchOffsets(ctx, group)
		if errors.Is(err, kerr.GroupIDNotFound) {
			return nil, nil
		}
		return got, errors.Join(err, got.Error())
	})
}

// stableOffsets reads the committed offsets of these partitions once no
// transaction holds a pending one. Each partition is named: asked for a whole
// group, a broker answers without the partitions that have pending offsets
// only, and other members' transactions keep some partition unstable for ever.
func stableOffsets(ctx context.Context, client *kgo.Client, group string, partitions []partition) (map[partition]int64, error) {
	return ask(ctx, func() (map[partition]int64, error) {
		resp, err := stableRequest(group, partitions).RequestWith(ctx, client)
		if err != nil {
			return nil, err
		}
		at := map[partition]int64{}
		for _, g := range resp.Groups {
			err = errors.Join(err, kerr.ErrorForCode(g.ErrorCode))
			for _, t := range g.Topics {
				for _, p := range t.Partitions {
					err = errors.Join(err, kerr.ErrorForCode(p.ErrorCode))
					at[partition{t.Topic, p.Partition}] = p.Offset
				}
			}
		}
		return at, err
	})
}

func stableRequest(group string, partitions []partition) *kmsg.OffsetFetchRequest {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.RequireStable = true
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = group
	for _, p := range partitions {
		t := kmsg.NewOffsetFetchRequestGroupTopic()
		t.Topic, t.Partitions = p.topic, []int32{p.id}
		g.Topics = append(g.Topics, t)
	}
	req.Groups = append(req.Groups, g)
	return req
}

// listTransactions lists transactional ids in one of the states, or in any.
func listTransactions(ctx context.Context, adm *kadm.Client, states ...string) (kadm.ListedTransactions, error) {
	return ask(ctx, func() (kadm.ListedTransactions, error) { return adm.ListTransactions(ctx, nil, states) })
}
