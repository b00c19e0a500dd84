package eos_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/internal/kafkatest"
)

func TestUnreachableBrokersEndTheStart(t *testing.T) {
	t.Parallel()
	cfg := good()
	cfg.StateDir, cfg.StartTimeout = t.TempDir(), time.Second
	start := time.Now()
	err := begin(t, cfg, copyTo("out")).ended()
	require.ErrorIs(t, err, eos.ErrUnreachable)
	require.Regexp(t, `^eos: no answer from 127\.0\.0\.1:1 within 1s: .*; check the addresses, TLS and SASL$`, err.Error())
	took := time.Since(start)
	require.Greater(t, took, 900*time.Millisecond, "it is waited for")
	require.Less(t, took, 5*time.Second)
}

// TestBrokerRestartUnderLoad: once in order, once killed.
func TestBrokerRestartUnderLoad(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t, kafkatest.Private())
	in, out := c.Topic(t, "in", 3), c.Topic(t, "out", 3)
	cfg := config(t, c, kafkatest.Name("restart"), in)
	cfg.Lanes, cfg.CommitInterval = 2, 20*time.Millisecond
	quick := kgo.MetadataMinAge(250 * time.Millisecond) // else a lost leader is looked for every 5s
	cfg.Client = []kgo.Opt{quick}
	r := begin(t, cfg, copyTo(out))

	var sent atomic.Int64
	quit, done := make(chan struct{}), make(chan struct{})
	source := c.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner()), quick)
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-quit:
				return
			case <-time.After(time.Millisecond):
			}
			err := source.ProduceSync(t.Context(), &kgo.Record{Topic: in, Partition: int32(i % 3), Value: fmt.Append(nil, i)}).FirstErr()
			if err != nil {
				return
			}
			sent.Add(1)
		}
	}()
	for _, end := range []func(testing.TB, int){c.Shutdown, c.Kill} {
		before := sent.Load()
		soon(t, func() bool { return sent.Load() > before+100 }, "no load")
		end(t, 0)
		c.StartNode(t, 0)
	}
	before := sent.Load()
	soon(t, func() bool { return sent.Load() > before+100 }, "no load afterwards")
	close(quit)
	<-done
	drained(t, c, cfg.ApplicationID, in)
	require.NoError(t, r.stop())

	want, got := map[string]int{}, map[string]int{}
	for _, rec := range c.ReadCommitted(t, in) {
		want[string(rec.Value)]++ // the source is idempotent
	}
	for _, v := range values(t, c, out) {
		got[v]++
	}
	require.Len(t, want, int(sent.Load()))
	require.Equal(t, want, got)
	require.Empty(t, c.OpenTransactions(t, cfg.ApplicationID+"/"))
	require.Equal(t, c.EndOffsets(t, out), c.StableOffsets(t, out))
}
