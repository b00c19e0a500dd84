package kafkatest

import (
	"context"
	"fmt"
	"maps"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// ReadCommitted returns what a read_committed consumer on franz-go sees in the
// topics, sorted by topic, partition and offset.
//
// It reads up to the LSO of the moment of the call and fails the test unless it
// got there in every partition: it saw the record or the transaction marker
// just before it. Records beyond an open transaction are therefore not read,
// and not waited for; compare StableOffsets with EndOffsets to tell that none
// is left.
func (c *Cluster) ReadCommitted(t testing.TB, topics ...string) []Record {
	t.Helper()
	return c.read(t, kgo.ReadCommitted(), c.StableOffsets(t, topics...), topics)
}

// ReadUncommitted is ReadCommitted without the filter: it reads up to the high
// watermark and returns the records of aborted and open transactions too.
func (c *Cluster) ReadUncommitted(t testing.TB, topics ...string) []Record {
	t.Helper()
	return c.read(t, kgo.ReadUncommitted(), c.EndOffsets(t, topics...), topics)
}

func (c *Cluster) read(t testing.TB, level kgo.IsolationLevel, ends Offsets, topics []string) []Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*opTimeout)
	defer cancel()
	starts := listed(t, topics, c.Admin(t).ListStartOffsets)
	todo := make(map[string]int64) // partition -> the offset that its last batch must reach
	from := make(map[string]map[int32]kgo.Offset)
	for topic, partitions := range ends {
		for partition, end := range partitions {
			if starts[topic][partition] >= end {
				continue
			}
			todo[at(topic, partition)] = end
			if from[topic] == nil {
				from[topic] = make(map[int32]kgo.Offset)
			}
			from[topic][partition] = kgo.NewOffset().At(starts[topic][partition])
		}
	}
	if len(todo) == 0 {
		return nil
	}
	client := c.Client(t, kgo.ConsumePartitions(from), kgo.FetchIsolationLevel(level), kgo.KeepControlRecords(),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()))
	defer client.Close()
	var records []Record
	for len(todo) > 0 {
		fetches := client.PollFetches(ctx)
		if ctx.Err() != nil {
			t.Fatalf("kafkatest: read: the ends %v were not reached (an aborted transaction just before an open one hides them): %v",
				maps.Clone(todo), ctx.Err())
		}
		fetches.EachError(func(topic string, partition int32, err error) {
			t.Fatalf("kafkatest: read %s: %v", at(topic, partition), err)
		})
		fetches.EachRecord(func(r *kgo.Record) {
			end, wanted := ends[r.Topic][r.Partition]
			if wanted && r.Offset < end && !r.Attrs.IsControl() {
				records = append(records, record(r))
			}
			if r.Offset >= end-1 {
				delete(todo, at(r.Topic, r.Partition))
			}
		})
	}
	sortRecords(records)
	return records
}

func at(topic string, partition int32) string { return fmt.Sprintf("%s[%d]", topic, partition) }

func record(r *kgo.Record) Record {
	out := Record{
		Topic: r.Topic, Partition: r.Partition, Offset: r.Offset,
		TimestampMillis: r.Timestamp.UnixMilli(), Key: r.Key, Value: r.Value,
	}
	for _, h := range r.Headers {
		out.Headers = append(out.Headers, Header{Key: h.Key, Value: h.Value})
	}
	return out
}
