package eos_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/internal/kafkatest"
)

var errBad = errors.New("bad record")

func TestHandlerErrorEndsTheEngineAtItsRecord(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	in, out := c.Topic(t, "in", 1), c.Topic(t, "out", 1)
	produce(t, c, in, "0", "1", "2", "bad", "4")
	cfg := config(t, c, kafkatest.Name("bad"), in)
	err := begin(t, cfg, func(r *kgo.Record, o *eos.Out) error {
		if err := copyTo(out)(r, o); err != nil || string(r.Value) != "bad" {
			return err
		}
		return errBad
	}).ended()
	require.EqualError(t, err, "eos: "+in+"[0]@3: the handler failed: bad record; mend the record or the handler; nothing of the record was written")
	require.ErrorIs(t, err, eos.ErrHandler)
	require.ErrorIs(t, err, errBad)
	require.Equal(t, []string{"0", "1", "2"}, values(t, c, out))
	require.Equal(t, int64(3), c.CommittedOffsets(t, cfg.ApplicationID)[in][0])
	require.Empty(t, c.OpenTransactions(t, cfg.ApplicationID+"/"))

	r := begin(t, cfg, copyTo(out)) // mended
	drained(t, c, cfg.ApplicationID, in)
	require.NoError(t, r.stop())
	require.Equal(t, []string{"0", "1", "2", "bad", "4"}, values(t, c, out))
}

func TestHandlerPanicIsAHandlerErrorWithItsStack(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	in, out := c.Topic(t, "in", 1), c.Topic(t, "out", 1)
	produce(t, c, in, "0", "bad")
	cfg := config(t, c, kafkatest.Name("panic"), in)
	err := begin(t, cfg, func(r *kgo.Record, o *eos.Out) error {
		if string(r.Value) == "bad" {
			panic("out of " + "luck")
		}
		return copyTo(out)(r, o)
	}).ended()
	require.ErrorIs(t, err, eos.ErrHandler)
	require.ErrorContains(t, err, "eos: "+in+"[0]@1: the handler failed: panic: out of luck\n")
	require.ErrorContains(t, err, "handler_test.go", "the stack names the place")
	require.Equal(t, []string{"0"}, values(t, c, out))
}

// TestRetryAfterHoldsOnePartitionAndNothingElse: the other partition goes on,
// no transaction stays open, and the order of the waiting one is kept.
func TestRetryAfterHoldsOnePartitionAndNothingElse(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	in, out := c.Topic(t, "in", 2), c.Topic(t, "out", 2)
	c.Produce(t,
		&kgo.Record{Topic: in, Partition: 0, Value: []byte("0")},
		&kgo.Record{Topic: in, Partition: 0, Value: []byte("later")},
		&kgo.Record{Topic: in, Partition: 0, Value: []byte("2")},
		&kgo.Record{Topic: in, Partition: 1, Value: []byte("other")})
	cfg := config(t, c, kafkatest.Name("later"), in)
	var open atomic.Bool
	var tries atomic.Int32
	r := begin(t, cfg, func(rec *kgo.Record, o *eos.Out) error {
		o.Produce(&kgo.Record{Topic: out, Key: fmt.Append(nil, rec.Partition), Value: rec.Value})
		if string(rec.Value) == "later" && !open.Load() {
			tries.Add(1)
			return eos.RetryAfter(errBad, 200*time.Millisecond)
		}
		return nil
	})
	soon(t, func() bool { return tries.Load() > 2 }, "not tried again")
	c.Produce(t, &kgo.Record{Topic: in, Partition: 0, Value: []byte("3")}, &kgo.Record{Topic: in, Partition: 1, Value: []byte("other, too")})
	soon(t, func() bool { return c.CommittedOffsets(t, cfg.ApplicationID)[in][1] == 2 }, "the other partition waits")
	require.Equal(t, int64(1), c.CommittedOffsets(t, cfg.ApplicationID)[in][0], "the records before it are committed")
	soon(t, func() bool { return len(c.OpenTransactions(t, cfg.ApplicationID+"/")) == 0 }, "a transaction is held open")
	waiting := map[int32]bool{}
	for _, p := range r.engine.Status().Partitions {
		waiting[p.Partition] = p.Waiting
	}
	require.False(t, waiting[1])

	open.Store(true)
	drained(t, c, cfg.ApplicationID, in)
	require.NoError(t, r.stop())
	got := map[string][]string{}
	for _, rec := range c.ReadCommitted(t, out) {
		got[string(rec.Key)] = append(got[string(rec.Key)], string(rec.Value))
	}
	require.Equal(t, map[string][]string{"0": {"0", "later", "2", "3"}, "1": {"other", "other, too"}}, got)
	require.Less(t, tries.Load(), int32(200), "it is tried after the delay, not all the time")
}

func TestShutdownDoesNotWaitForARetry(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	in := c.Topic(t, "in", 1)
	produce(t, c, in, "0")
	cfg := config(t, c, kafkatest.Name("hours"), in)
	tried := make(chan struct{}, 1)
	r := begin(t, cfg, func(*kgo.Record, *eos.Out) error {
		tried <- struct{}{}
		return eos.RetryAfter(errBad, time.Hour)
	})
	<-tried
	soon(t, func() bool { return r.engine.Status().Partitions[0].Waiting }, "it does not wait")
	require.Equal(t, int64(1), r.engine.Status().Partitions[0].Lag(), "a waiting record is lag")
	start := time.Now()
	require.NoError(t, r.stop())
	require.Less(t, time.Since(start), 5*time.Second)
	require.Equal(t, int64(0), c.CommittedOffsets(t, cfg.ApplicationID)[in][0])
}
