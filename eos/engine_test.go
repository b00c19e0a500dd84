package eos_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/internal/kafkatest"
)

// run starts an engine and gives a function that stops it and awaits its end.
func run(t *testing.T, cfg eos.Config, fn eos.Handler) (stop func() error) {
	t.Helper()
	e, err := eos.New(cfg)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		err := e.Run(ctx, fn)
		if ctx.Err() == nil {
			t.Log("the engine ended by itself: ", err)
		}
		done <- err
	}()
	return func() error {
		cancel()
		return <-done
	}
}

// copyTo is a handler that copies every record to topic.
func copyTo(topic string) eos.Handler {
	return func(r *kgo.Record, out *eos.Out) error {
		out.Produce(&kgo.Record{Topic: topic, Key: r.Key, Value: r.Value})
		return nil
	}
}

func produceNumbers(t *testing.T, c *kafkatest.Cluster, topic string, from, to int) {
	t.Helper()
	var rs []*kgo.Record
	for i := from; i < to; i++ {
		rs = append(rs, &kgo.Record{Topic: topic, Key: fmt.Appendf(nil, "k%d", i%17), Value: fmt.Appendf(nil, "%d", i)})
	}
	c.Produce(t, rs...)
}

// drained waits until the group has committed all of topic.
func drained(t *testing.T, c *kafkatest.Cluster, group, topic string) {
	t.Helper()
	require.Eventually(t, func() bool {
		at := c.CommittedOffsets(t, group)
		for p, end := range c.EndOffsets(t, topic)[topic] {
			if at[topic][p] != end {
				return false
			}
		}
		return true
	}, 30*time.Second, 50*time.Millisecond, "group %s does not reach the end of %s", group, topic)
}

func config(t *testing.T, c *kafkatest.Cluster, app, in string) eos.Config {
	t.Helper()
	return eos.Config{ApplicationID: app, Brokers: c.Brokers(), Topics: []string{in}, StateDir: t.TempDir()}
}

func TestEngineCopiesEachRecordOnceAndCommitsToTheEnd(t *testing.T) {
	for _, lanes := range []int{1, 3} {
		t.Run(fmt.Sprintf("lanes=%d", lanes), func(t *testing.T) {
			c := kafkatest.Start(t)
			in, out := c.Topic(t, "in", 6), c.Topic(t, "out", 4)
			produceNumbers(t, c, in, 0, 5000)
			cfg := config(t, c, kafkatest.Name("copy"), in)
			cfg.Lanes = lanes
			stop := run(t, cfg, copyTo(out))
			drained(t, c, cfg.ApplicationID, in)
			produceNumbers(t, c, in, 5000, 6000)
			drained(t, c, cfg.ApplicationID, in)
			require.NoError(t, stop())

			got := map[string]int{}
			for _, r := range c.ReadCommitted(t, out) {
				got[string(r.Value)]++
			}
			require.Len(t, got, 6000)
			for v, n := range got {
				require.Equal(t, 1, n, "value %s", v)
			}
			require.Empty(t, c.OpenTransactions(t, cfg.ApplicationID+"/"))
		})
	}
}

func TestEngineCommitsOffsetsOfRecordsWithoutOutputs(t *testing.T) {
	c := kafkatest.Start(t)
	in := c.Topic(t, "in", 3)
	produceNumbers(t, c, in, 0, 1000)
	cfg := config(t, c, kafkatest.Name("filter"), in)
	stop := run(t, cfg, func(*kgo.Record, *eos.Out) error { return nil })
	drained(t, c, cfg.ApplicationID, in)
	require.NoError(t, stop())
	require.Empty(t, c.OpenTransactions(t, cfg.ApplicationID+"/"))
}
