package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// read returns the records of a topic up to the ends that were listed, at the
// isolation level. REQUIRES: no transaction is open, so that the last record
// before every end, data or transaction marker, is delivered.
func (c *cluster) read(ctx context.Context, topic string, level kgo.IsolationLevel, ends kadm.ListedOffsets) ([]Output, error) {
	todo, from := map[int32]int64{}, map[int32]kgo.Offset{}
	ends.Each(func(o kadm.ListedOffset) {
		if o.Topic == topic && o.Offset > 0 {
			todo[o.Partition] = o.Offset
			from[o.Partition] = kgo.NewOffset().At(0)
		}
	})
	client, err := c.client(
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}),
		kgo.FetchIsolationLevel(level), kgo.KeepControlRecords(),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
	)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var found []Output
	for len(todo) > 0 {
		fetches := client.PollFetches(ctx)
		if err := errors.Join(fetches.Err0(), ctx.Err()); err != nil {
			return nil, fmt.Errorf("read %s: partitions %v were not read to their end: %w", topic, todo, err)
		}
		for r := range fetches.RecordsAll() {
			if !r.Attrs.IsControl() {
				found = append(found, Output{Partition: r.Partition, Offset: r.Offset, Key: string(r.Key), Value: r.Value})
			}
			if r.Offset >= todo[r.Partition]-1 {
				delete(todo, r.Partition)
			}
		}
	}
	return found, nil
}

// settled waits until no open transaction hides anything in the topics, and
// returns their ends. It gives up after the time-out of transactions: what is
// hidden then would be a loss, and is an error that says where.
func (c *cluster) settled(ctx context.Context, topics ...string) (kadm.ListedOffsets, error) {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		ends, err := c.adm.ListEndOffsets(ctx, topics...)
		if err = errors.Join(err, ends.Error()); err != nil {
			return nil, fmt.Errorf("end offsets of %v: %w", topics, err)
		}
		stable, err := c.adm.ListCommittedOffsets(ctx, topics...)
		if err = errors.Join(err, stable.Error()); err != nil {
			return nil, fmt.Errorf("last stable offsets of %v: %w", topics, err)
		}
		var open error
		ends.Each(func(end kadm.ListedOffset) {
			if lso, ok := stable.Lookup(end.Topic, end.Partition); !ok || lso.Offset < end.Offset {
				open = fmt.Errorf("%s[%d]: an open transaction hides the offsets from %d to %d", end.Topic, end.Partition, lso.Offset, end.Offset)
			}
		})
		if open == nil {
			return ends, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w, %v after the last worker ended", open, settleTimeout)
		case <-tick.C:
		}
	}
}
