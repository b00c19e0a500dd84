package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"
)

// runPlain is the application as it is written by hand: poll, produce, and every
// commitEvery flush and commit. Offsets are committed only after every output is
// acknowledged, so that nothing is lost, and partitions move only when all is
// committed, so that a rebalance repeats nothing. A crash repeats what was
// produced since the last commit.
func (t task) runPlain(ctx context.Context, report func(string)) error {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(t.Brokers...),
		kgo.MaxVersions(kversion.V3_9_0()),
		kgo.ConsumerGroup(t.Group),
		kgo.InstanceID(t.Instance),
		kgo.ConsumeTopics(t.In),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.Balancers(kgo.CooperativeStickyBalancer()),
		kgo.SessionTimeout(t.Session),
		kgo.HeartbeatInterval(500*time.Millisecond),
		kgo.DisableAutoCommit(),
		kgo.BlockRebalanceOnPoll(),
		kgo.OnPartitionsAssigned(func(context.Context, *kgo.Client, map[string][]int32) { report(reportUp) }),
	)
	if err != nil {
		return fmt.Errorf("demo: plain worker: %w", err)
	}
	defer client.CloseAllowingRebalance()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	var first kgo.FirstErrPromise // the first output that was refused since the last commit
	due := time.Now().Add(commitEvery)
	for ctx.Err() == nil {
		untilDue, cancel := context.WithDeadline(ctx, due)
		fetches := client.PollFetches(untilDue)
		cancel()
		fetches.EachError(func(topic string, partition int32, err error) {
			if untilDue.Err() == nil {
				log.Error("fetch", "topic", topic, "partition", partition, "error", err)
			}
		})
		if err := t.produce(ctx, client, fetches, &first); err != nil {
			return err
		}
		if time.Now().Before(due) {
			continue
		}
		if err := errors.Join(client.Flush(ctx), first.Err()); err != nil {
			return fmt.Errorf("demo: plain worker: produce: %w", err) // not committed: restarted, it reads these records again
		}
		if err := client.CommitUncommittedOffsets(ctx); err != nil {
			log.Error("commit", "error", err) // the next commit holds these offsets, too
		}
		client.AllowRebalance()
		due = time.Now().Add(commitEvery)
	}
	return nil
}

// produce sends the outputs of what was polled.
func (t task) produce(ctx context.Context, client *kgo.Client, fetches kgo.Fetches, first *kgo.FirstErrPromise) error {
	for r := range fetches.RecordsAll() {
		value, err := billed(r.Value)
		if err != nil {
			return fmt.Errorf("demo: plain worker: %s[%d]@%d: %w", r.Topic, r.Partition, r.Offset, err)
		}
		client.Produce(ctx, &kgo.Record{Topic: t.Out, Key: r.Key, Value: value}, first.Promise())
	}
	return nil
}

// billed is the transform on encoded values.
func billed(value []byte) ([]byte, error) {
	var order Order
	if err := json.Unmarshal(value, &order); err != nil {
		return nil, err
	}
	bill, err := Charge(order)
	if err != nil {
		return nil, err
	}
	return json.Marshal(bill)
}
