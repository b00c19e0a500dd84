package eos_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/internal/kafkatest"
)

func TestOriginHeadersNameTheInput(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	in, out := c.Topic(t, "in", 3), c.Topic(t, "out", 1)
	c.Produce(t, &kgo.Record{Topic: in, Partition: 2, Value: []byte("a")}, &kgo.Record{Topic: in, Partition: 2, Value: []byte("b")})
	cfg := config(t, c, kafkatest.Name("origin"), in)
	cfg.OriginHeaders = true
	own := kgo.RecordHeader{Key: "mine", Value: []byte("1")}
	shared := append(make([]kgo.RecordHeader, 0, 8), own) // with room that an append would use
	r := begin(t, cfg, func(rec *kgo.Record, o *eos.Out) error {
		o.Produce(&kgo.Record{Topic: out, Value: rec.Value, Headers: shared})
		return nil
	})
	drained(t, c, cfg.ApplicationID, in)
	require.NoError(t, r.stop())
	topics, err := c.Admin(t).ListTopics(t.Context(), in)
	require.NoError(t, err)
	id := [16]byte(topics[in].ID)
	got := c.ReadCommitted(t, out)
	require.Len(t, got, 2)
	for offset, rec := range got {
		require.Equal(t, []kafkatest.Header{
			{Key: "mine", Value: []byte("1")},
			{Key: eos.HeaderTopicID, Value: id[:]},
			{Key: eos.HeaderPartition, Value: []byte{0, 0, 0, 2}},
			{Key: eos.HeaderOffset, Value: binary.BigEndian.AppendUint64(nil, uint64(offset))},
		}, rec.Headers)
	}
	require.Equal(t, make([]kgo.RecordHeader, 7), shared[1:cap(shared)], "the handler's own headers are not touched")
}

func TestNullAndEmptyPassUnchanged(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	in, out := c.Topic(t, "in", 1), c.Topic(t, "out", 1)
	var sent []*kgo.Record
	parts := [][]byte{nil, {}, {0, 0xff}}
	for _, key := range parts {
		for _, value := range parts {
			for _, headers := range [][]kgo.RecordHeader{nil, {{Key: ""}, {Key: "é", Value: []byte{}}, {Key: "é", Value: value}}} {
				sent = append(sent, &kgo.Record{Topic: in, Key: key, Value: value, Headers: headers, Timestamp: time.UnixMilli(int64(len(sent)))})
			}
		}
	}
	c.Produce(t, sent...)
	cfg := config(t, c, kafkatest.Name("bytes"), in)
	r := begin(t, cfg, func(rec *kgo.Record, o *eos.Out) error {
		o.Produce(&kgo.Record{Topic: out, Key: rec.Key, Value: rec.Value, Headers: rec.Headers, Timestamp: rec.Timestamp})
		return nil
	})
	drained(t, c, cfg.ApplicationID, in)
	require.NoError(t, r.stop())
	want := c.ReadCommitted(t, in)
	require.Len(t, want, len(sent))
	for i := range want {
		want[i].Topic = out
	}
	require.Equal(t, want, c.ReadCommitted(t, out))
}

// TestOffsetsReachTheEndBehindControlRecords: markers occupy offsets, and a
// group that never commits behind them shows lag for ever.
func TestOffsetsReachTheEndBehindControlRecords(t *testing.T) {
	t.Parallel()
	commit, abort := kgo.TryCommit, kgo.TryAbort
	for name, ends := range map[string][]kgo.TransactionEndTry{
		"commit": {commit}, "abort": {abort}, "three aborts": {abort, abort, abort}, "only in the middle": {commit, abort, commit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := kafkatest.Start(t)
			in, out := c.Topic(t, "in", 1), c.Topic(t, "out", 1)
			producer := c.Client(t, kgo.TransactionalID(kafkatest.Name("input")))
			committed := 0
			for _, end := range ends {
				require.NoError(t, producer.BeginTransaction())
				require.NoError(t, producer.ProduceSync(t.Context(), &kgo.Record{Topic: in, Value: []byte(name)}).FirstErr())
				require.NoError(t, producer.EndTransaction(t.Context(), end))
				if end == commit {
					committed++
				}
			}
			cfg := config(t, c, kafkatest.Name("markers"), in)
			r := begin(t, cfg, copyTo(out))
			drained(t, c, cfg.ApplicationID, in)
			soon(t, func() bool {
				s := r.engine.Status()
				return len(s.Partitions) == 1 && s.Partitions[0].End == int64(2*len(ends)) && s.Partitions[0].Lag() == 0
			}, "lag is shown")
			require.NoError(t, r.stop())
			require.Len(t, values(t, c, out), committed)
		})
	}
}
