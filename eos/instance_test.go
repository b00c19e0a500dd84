package eos_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/internal/kafkatest"
)

// TestOlderOfTwoProcessesWithOneInstanceIDStops with the older one at work and
// idle.
func TestOlderOfTwoProcessesWithOneInstanceIDStops(t *testing.T) {
	t.Parallel()
	for _, busy := range []bool{false, true} {
		t.Run(fmt.Sprintf("busy=%t", busy), func(t *testing.T) {
			t.Parallel()
			c := kafkatest.Start(t)
			in, out := c.Topic(t, "in", 4), c.Topic(t, "out", 1)
			cfg := config(t, c, kafkatest.Name("twice"), in)
			cfg.InstanceID = "blue"
			produceNumbers(t, c, in, 0, 100)
			older := begin(t, cfg, copyTo(out))
			drained(t, c, cfg.ApplicationID, in)
			newer := begin(t, cfg, copyTo(out))
			total := 100
			for busy && len(older.done) == 0 {
				produceNumbers(t, c, in, total, total+100)
				total += 100
			}
			err := older.ended()
			require.ErrorIs(t, err, eos.ErrFenced)
			require.EqualError(t, err, `eos: another process joined the group as "blue": `+
				strings.TrimSuffix(kerr.FencedInstanceID.Error(), ".")+"; give each process its own instance id")
			produceNumbers(t, c, in, total, total+100)
			total += 100
			drained(t, c, cfg.ApplicationID, in)
			require.NoError(t, newer.stop())
			got := map[string]int{}
			for _, v := range values(t, c, out) {
				got[v]++
			}
			require.Len(t, got, total)
			for v, n := range got {
				require.Equal(t, 1, n, "value %s", v)
			}
		})
	}
}

// TestTwoProcessesOnOneHostGetTwoIDs shows also that the group shares out.
func TestTwoProcessesOnOneHostGetTwoIDs(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	in, out := c.Topic(t, "in", 4), c.Topic(t, "out", 1)
	cfg := config(t, c, kafkatest.Name("both"), in)
	first, second := begin(t, cfg, copyTo(out)), begin(t, cfg, copyTo(out))
	soon(t, func() bool {
		return len(first.engine.Status().Partitions) == 2 && len(second.engine.Status().Partitions) == 2
	}, "not shared out")
	require.NotEqual(t, first.engine.Status().Member, second.engine.Status().Member)
	produceNumbers(t, c, in, 0, 1000)
	drained(t, c, cfg.ApplicationID, in)
	require.NoError(t, first.stop())
	soon(t, func() bool { return len(second.engine.Status().Partitions) == 4 }, "the rest is not taken over")
	require.NoError(t, second.stop())
	require.Len(t, values(t, c, out), 1000)
}

// TestNeighboursWithOneNameInAnotherDoNotFence: orders and orders-eu.
func TestNeighboursWithOneNameInAnotherDoNotFence(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	in, out := c.Topic(t, "in", 2), c.Topic(t, "out", 1)
	name := kafkatest.Name("orders")
	var took [2]events
	var apps []*running
	for i, app := range []string{name, name + "-eu"} {
		cfg := config(t, c, app, in)
		cfg.InstanceID, cfg.Observer = "blue", &took[i]
		apps = append(apps, begin(t, cfg, copyTo(out)))
	}
	for i := range 20 {
		produceNumbers(t, c, in, i*50, (i+1)*50)
	}
	drained(t, c, name, in)
	drained(t, c, name+"-eu", in)
	// A member that comes looks for dead peers.
	cfg := config(t, c, name, in)
	cfg.InstanceID = "green"
	apps = append(apps, begin(t, cfg, copyTo(out)))
	soon(t, func() bool { return len(apps[2].engine.Status().Partitions) == 1 }, "not shared out")
	for i := 20; i < 60; i++ {
		produceNumbers(t, c, in, i*50, (i+1)*50)
	}
	drained(t, c, name, in)
	drained(t, c, name+"-eu", in)
	for _, r := range apps {
		require.NoError(t, r.stop())
	}
	require.Len(t, values(t, c, out), 6000)
	for i := range took {
		require.Empty(t, took[i].of(eos.PeerFenced))
		require.Empty(t, took[i].of(eos.Reinitialised))
	}
}
