package kafkatest_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/internal/kafkatest"
)

// TestReadersHideAbortedTransactions also holds the readers' power to fail: the
// same readers at read_uncommitted do see what was aborted.
func TestReadersHideAbortedTransactions(t *testing.T) {
	c := kafkatest.Start(t)
	topic := c.Topic(t, "readers", 2)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	id := kafkatest.Name("readers")
	producer := c.Client(t, kgo.TransactionalID(id), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	write := func(value string, outcome kgo.TransactionEndTry) {
		require.NoError(t, producer.BeginTransaction())
		require.NoError(t, producer.ProduceSync(ctx,
			&kgo.Record{Topic: topic, Partition: 0, Value: []byte(value)},
			&kgo.Record{Topic: topic, Partition: 1, Value: []byte(value)}).FirstErr())
		require.Len(t, c.OpenTransactions(t, id), 1)
		require.NoError(t, producer.EndTransaction(ctx, outcome))
	}
	write("committed", kgo.TryCommit)
	write("aborted", kgo.TryAbort)

	require.Eventually(t, func() bool { return len(c.OpenTransactions(t, id)) == 0 }, 10*time.Second, 50*time.Millisecond)
	require.Equal(t, []string{"committed", "committed"}, values(c.ReadCommitted(t, topic)))
	require.Equal(t, c.ReadCommitted(t, topic), c.ReadCommittedJava(t, topic))
	everything := []string{"committed", "aborted", "committed", "aborted"}
	require.Equal(t, everything, values(c.ReadUncommitted(t, topic)))
	require.Equal(t, c.ReadUncommitted(t, topic), c.ReadUncommittedJava(t, topic))
	require.Equal(t, kafkatest.Offsets{topic: {0: 4, 1: 4}}, c.EndOffsets(t, topic))
	require.Equal(t, c.EndOffsets(t, topic), c.StableOffsets(t, topic))
}

// TestReadersAgreeOnEveryByte writes each mix of null, empty and filled.
func TestReadersAgreeOnEveryByte(t *testing.T) {
	c := kafkatest.Start(t)
	topic := c.Topic(t, "bytes", 1)
	var sent []*kgo.Record
	bytes := [][]byte{nil, {}, {0, '\t', '\n', 0xff}}
	for _, key := range bytes {
		for _, value := range bytes {
			for _, headers := range [][]kgo.RecordHeader{nil, {{Key: "", Value: nil}, {Key: "é", Value: []byte{}}, {Key: "é", Value: key}}} {
				sent = append(sent, &kgo.Record{
					Topic: topic, Key: key, Value: value, Headers: headers, Timestamp: time.UnixMilli(int64(len(sent))),
				})
			}
		}
	}
	c.Produce(t, sent...)
	got := c.ReadCommitted(t, topic)
	require.Len(t, got, len(sent))
	for i, r := range got {
		require.Equal(t, sent[i].Key, r.Key)
		require.Equal(t, sent[i].Value, r.Value)
		require.Len(t, r.Headers, len(sent[i].Headers))
		require.Equal(t, int64(i), r.TimestampMillis)
	}
	require.Equal(t, got, c.ReadCommittedJava(t, topic))
}

func values(records []kafkatest.Record) []string {
	out := make([]string, len(records))
	for i, r := range records {
		out[i] = string(r.Value)
	}
	return out
}
