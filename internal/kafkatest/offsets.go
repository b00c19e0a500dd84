package kafkatest

import (
	"context"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
)

// Offsets are offsets by topic and partition.
type Offsets map[string]map[int32]int64

func (o Offsets) set(topic string, partition int32, at int64) {
	if o[topic] == nil {
		o[topic] = make(map[int32]int64)
	}
	o[topic][partition] = at
}

// EndOffsets returns the high watermark of every partition of the topics: the
// offset after the last record, whatever became of its transaction.
func (c *Cluster) EndOffsets(t testing.TB, topics ...string) Offsets {
	t.Helper()
	return listed(t, topics, c.Admin(t).ListEndOffsets)
}

// StableOffsets returns the last stable offset (LSO) of every partition of the
// topics: a read_committed reader stops there.
func (c *Cluster) StableOffsets(t testing.TB, topics ...string) Offsets {
	t.Helper()
	return listed(t, topics, c.Admin(t).ListCommittedOffsets)
}

func listed(t testing.TB, topics []string, list func(context.Context, ...string) (kadm.ListedOffsets, error)) Offsets {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), opTimeout)
	defer cancel()
	var found Offsets
	until(ctx, t, "list offsets of "+strings.Join(topics, ", "), func() error {
		answer, err := list(ctx, topics...)
		if err != nil {
			return err
		}
		found = make(Offsets)
		answer.Each(func(o kadm.ListedOffset) { found.set(o.Topic, o.Partition, o.Offset) })
		return answer.Error()
	})
	return found
}

// CommittedOffsets returns the next offsets that a group has committed. It asks
// for stable ones: while a transaction holds a pending commit it waits.
func (c *Cluster) CommittedOffsets(t testing.TB, group string) Offsets {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), opTimeout)
	defer cancel()
	admin := c.Admin(t)
	var found Offsets
	until(ctx, t, "committed offsets of group "+group, func() error {
		answer, err := admin.FetchOffsets(kadm.RequireStable(ctx), group)
		if err != nil {
			return err
		}
		found = make(Offsets)
		answer.Each(func(o kadm.OffsetResponse) { found.set(o.Topic, o.Partition, o.At) })
		return answer.Error()
	})
	return found
}

// OpenTransactions describes the transactions that are not finished and whose
// transactional.id has the prefix, sorted by it. It asks every coordinator.
func (c *Cluster) OpenTransactions(t testing.TB, prefix string) []kadm.DescribedTransaction {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), opTimeout)
	defer cancel()
	admin := c.Admin(t)
	var open []kadm.DescribedTransaction
	until(ctx, t, "list transactions "+prefix, func() error {
		listed, err := admin.ListTransactions(ctx, nil, []string{"Ongoing", "PrepareCommit", "PrepareAbort"})
		if err != nil {
			return err
		}
		var ids []string
		for _, txn := range listed.Sorted() {
			if strings.HasPrefix(txn.TxnID, prefix) {
				ids = append(ids, txn.TxnID)
			}
		}
		open = nil
		if len(ids) == 0 {
			return nil
		}
		described, err := admin.DescribeTransactions(ctx, ids...)
		if err != nil {
			return err
		}
		open = described.Sorted()
		for _, txn := range open {
			if txn.Err != nil {
				return txn.Err
			}
		}
		return nil
	})
	return open
}
