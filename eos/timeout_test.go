package eos_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/internal/kafkatest"
)

// slow waits in the handler, as a slow query would.
func slow(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}

// TestTransactionOverItsTimeoutIsRepeatedOnce: the broker ends it, which the
// owner meets as a fencing although there is no other process.
func TestTransactionOverItsTimeoutIsRepeatedOnce(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	in, out := c.Topic(t, "in", 1), c.Topic(t, "out", 1)
	produce(t, c, in, "0", "slow", "2")
	var seen events
	cfg := config(t, c, kafkatest.Name("overdue"), in)
	cfg.TransactionTimeout, cfg.Observer = time.Second, &seen
	var tries atomic.Int32
	r := begin(t, cfg, func(rec *kgo.Record, o *eos.Out) error {
		if string(rec.Value) == "slow" && tries.Add(1) == 1 {
			slow(t, 3*time.Second)
		}
		return copyTo(out)(rec, o)
	})
	drained(t, c, cfg.ApplicationID, in)
	require.NoError(t, r.stop())
	require.Equal(t, []string{"0", "slow", "2"}, values(t, c, out))
	require.Equal(t, int32(2), tries.Load())
	var fenced []eos.Event
	for _, e := range seen.of(eos.Ended) {
		if e.Outcome != eos.Committed && e.Reason != eos.ReasonCascade {
			fenced = append(fenced, e)
		}
	}
	require.Len(t, fenced, 1)
	require.Equal(t, eos.Fenced, fenced[0].Outcome)
	require.Equal(t, eos.ReasonTimedOut, fenced[0].Reason)
	require.Equal(t, 1, r.log.count("transaction exceeded its time-out and was aborted by the broker"))
}

// TestHandlerAlwaysOverTheTimeoutEndsTheEngine: its record could be repeated
// for ever and never commit.
func TestHandlerAlwaysOverTheTimeoutEndsTheEngine(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	in, out := c.Topic(t, "in", 1), c.Topic(t, "out", 1)
	produce(t, c, in, "0", "slow", "2")
	cfg := config(t, c, kafkatest.Name("hopeless"), in)
	cfg.TransactionTimeout = time.Second
	var tries atomic.Int32
	err := begin(t, cfg, func(rec *kgo.Record, o *eos.Out) error {
		if string(rec.Value) == "slow" {
			tries.Add(1)
			slow(t, 2500*time.Millisecond)
		}
		return copyTo(out)(rec, o)
	}).ended()
	require.ErrorIs(t, err, eos.ErrHandler)
	require.Regexp(t, `^eos: `+in+`\[0\]@1: the handler took 2\.\d+s, longer than TransactionTimeout \(1s\), 3 times in a row; `+
		`make it quicker, or raise TransactionTimeout$`, err.Error())
	require.Equal(t, int32(3), tries.Load())
	require.Empty(t, values(t, c, out), "what shared its transaction comes again, too")
	require.Equal(t, int64(0), c.CommittedOffsets(t, cfg.ApplicationID)[in][0])
	require.Empty(t, c.OpenTransactions(t, cfg.ApplicationID+"/"))
}
