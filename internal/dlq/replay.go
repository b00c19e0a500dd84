package dlq

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/processor/deadletter"
)

// batchLetters is how many letters at most go in one transaction.
const batchLetters = 100

// transactionTimeout is how long a killed replay can hold back the readers of
// the origin topics if nobody replays again.
const transactionTimeout = 30 * time.Second

// Result is what became of one chosen letter.
type Result struct {
	Entry
	// Refused says why the letter was not sent; nil: it was, or would be.
	Refused error
}

// ReplayOptions are those of Replay.
type ReplayOptions struct {
	Force  bool // send what was replayed before, too
	DryRun bool // send nothing
	// Sent, if set, is called after each transaction has committed.
	Sent func([]Result)
}

// Replay sends the chosen letters to their origin topics again, each once: with
// its key, value, headers, timestamp, and the headers that name its origin. It
// commits up to 100 letters and the record of their replay in one transaction.
//
// After an error the letters of committed transactions are sent, and known as
// such; call it again for the rest.
func (b *Book) Replay(ctx context.Context, s Selection, o ReplayOptions) ([]Result, error) {
	var client *kgo.Client
	if !o.DryRun {
		var err error
		if client, err = b.producer(ctx); err != nil {
			return nil, err
		}
		defer client.Close()
	}
	entries, err := b.List(ctx, s)
	if err != nil {
		return nil, err
	}
	results := make([]Result, 0, len(entries))
	var origins []string
	for _, e := range entries {
		r := Result{Entry: e, Refused: refusal(e, o.Force)}
		if r.Refused == nil && !slices.Contains(origins, e.Letter.Topic) {
			origins = append(origins, e.Letter.Topic)
		}
		results = append(results, r)
	}
	if len(origins) > 0 {
		if _, err := b.cluster.Topics(ctx, origins...); err != nil {
			return nil, fmt.Errorf("nothing was sent: origin %w", err)
		}
	}
	if o.DryRun {
		return results, nil
	}
	topics, err := b.cluster.Topics(ctx, b.topic)
	if err != nil {
		return nil, err
	}
	for batch := range slices.Chunk(results, batchLetters) {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("stopped before the letters from %s on: %w", batch[0].Position(), err)
		}
		if err := b.send(ctx, client, topics[b.topic].ID, batch); err != nil {
			return nil, err
		}
		if o.Sent != nil {
			o.Sent(batch)
		}
	}
	return results, nil
}

// refusal says why e cannot be sent.
func refusal(e Entry, force bool) error {
	switch {
	case e.Bad != nil:
		return e.Bad
	case e.Letter.ValueCutFrom > 0:
		return fmt.Errorf("its value was cut from %d bytes to %d; only %s has the whole, while that topic keeps it",
			e.Letter.ValueCutFrom, len(e.Record.Value), e.Origin())
	case !e.Replayed.IsZero() && !force:
		return fmt.Errorf("replayed at %s; --force sends it again", e.Replayed.UTC().Format(time.RFC3339))
	}
	return nil
}

// producer takes the transactional.id of the topic's replays, which ends what
// another replay has open.
func (b *Book) producer(ctx context.Context) (*kgo.Client, error) {
	if _, err := b.cluster.Topics(ctx, b.topic); err != nil {
		return nil, err
	}
	kept, compact := ReplayedTopic(b.topic), "compact"
	err := b.cluster.Admin(ctx, func(ctx context.Context, adm *kadm.Client) error {
		_, err := adm.CreateTopic(ctx, 1, -1, map[string]*string{"cleanup.policy": &compact}, kept)
		if err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
			return b.cluster.Explain("topic "+kept+" cannot be created", err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	client, err := b.cluster.Client(kgo.TransactionalID(b.topic+"-replay"), kgo.TransactionTimeout(transactionTimeout))
	if err != nil {
		return nil, err
	}
	within, cancel := b.cluster.Within(ctx)
	defer cancel()
	if _, _, err := client.ProducerID(within); err != nil {
		client.Close()
		return nil, b.cluster.Explain("transactional.id "+b.topic+"-replay cannot be taken", err)
	}
	return client, nil
}

// send commits the letters of batch that are not refused.
func (b *Book) send(ctx context.Context, client *kgo.Client, id kadm.TopicID, batch []Result) error {
	var records []*kgo.Record
	now := []byte(time.Now().UTC().Format(time.RFC3339Nano))
	for _, r := range batch {
		if r.Refused != nil {
			continue
		}
		again, _, err := deadletter.Replay(r.Record)
		if err != nil {
			return err // unreachable: refused before
		}
		at := position{r.Record.Partition, r.Record.Offset}
		records = append(records, again, &kgo.Record{Topic: ReplayedTopic(b.topic), Key: []byte(marker(id, at)), Value: now})
	}
	if len(records) == 0 {
		return nil
	}
	// A stop by the user must not leave the outcome open: it takes effect
	// between transactions.
	within, cancel := b.cluster.Within(context.WithoutCancel(ctx))
	defer cancel()
	if err := client.BeginTransaction(); err != nil {
		return err
	}
	if err := client.ProduceSync(within, records...).FirstErr(); err != nil {
		_ = client.AbortBufferedRecords(within)         // the first error says more
		_ = client.EndTransaction(within, kgo.TryAbort) // else the broker aborts after the time-out
		return b.stopped("the letters were not sent", err)
	}
	if err := client.EndTransaction(within, kgo.TryCommit); err != nil {
		return b.stopped("the outcome of the last transaction is unknown; list tells what was replayed, and replaying again sends only the rest", err)
	}
	return nil
}

func (b *Book) stopped(what string, err error) error {
	if errors.Is(err, kerr.ProducerFenced) || errors.Is(err, kerr.InvalidProducerEpoch) {
		return fmt.Errorf("another replay of %s has taken over; what it did is in %s", b.topic, ReplayedTopic(b.topic))
	}
	return b.cluster.Explain(what, err)
}

func sortEntries(entries []Entry) {
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Record.Partition, b.Record.Partition), cmp.Compare(a.Record.Offset, b.Record.Offset))
	})
}
