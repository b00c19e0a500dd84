package eos_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/internal/kafkatest"
)

func TestShutdownCommitsTheRecordInHand(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	in, out := c.Topic(t, "in", 1), c.Topic(t, "out", 1)
	produce(t, c, in, "0", "1", "2", "3")
	cfg := config(t, c, kafkatest.Name("in-hand"), in)
	inHand := make(chan struct{}, 4)
	r := begin(t, cfg, func(rec *kgo.Record, o *eos.Out) error {
		inHand <- struct{}{}
		slow(t, 700*time.Millisecond)
		return copyTo(out)(rec, o)
	})
	<-inHand
	start := time.Now()
	require.NoError(t, r.stop())
	require.Less(t, time.Since(start), 2*time.Second)
	require.Equal(t, []string{"0"}, values(t, c, out))
	require.Equal(t, int64(1), c.CommittedOffsets(t, cfg.ApplicationID)[in][0])
}

// TestShutdownDoesNotWaitForAHandlerForEver: nothing of its record is written.
func TestShutdownDoesNotWaitForAHandlerForEver(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	in, out := c.Topic(t, "in", 1), c.Topic(t, "out", 1)
	produce(t, c, in, "stuck")
	cfg := config(t, c, kafkatest.Name("stuck"), in)
	cfg.DrainTimeout = time.Second
	inHand, free, returned := make(chan struct{}), make(chan struct{}), make(chan struct{})
	r := begin(t, cfg, func(rec *kgo.Record, o *eos.Out) error {
		defer close(returned)
		close(inHand)
		<-free
		return copyTo(out)(rec, o)
	})
	<-inHand
	start := time.Now()
	r.cancel()
	var err error
	select {
	case err = <-r.done:
	case <-time.After(10 * time.Second):
	}
	took := time.Since(start)
	close(free)
	require.EqualError(t, err, "eos: transactions were still open 1s after the shutdown began; the broker aborts them; "+
		"their records are processed again by the next owner")
	require.ErrorIs(t, err, eos.ErrDrain)
	require.Less(t, took, 4*time.Second)
	<-returned

	next := begin(t, cfg, copyTo(out))
	drained(t, c, cfg.ApplicationID, in)
	require.NoError(t, next.stop())
	require.Equal(t, []string{"stuck"}, values(t, c, out))
}

func members(t *testing.T, c *kafkatest.Cluster, group string) int {
	t.Helper()
	groups, err := c.Admin(t).DescribeGroups(t.Context(), group)
	require.NoError(t, err)
	return len(groups[group].Members)
}

func TestOnlyAConfiguredInstanceStaysInTheGroup(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"": 0, "blue": 1} {
		t.Run("id="+name, func(t *testing.T) {
			t.Parallel()
			c := kafkatest.Start(t)
			in := c.Topic(t, "in", 1)
			cfg := config(t, c, kafkatest.Name("leave"), in)
			cfg.InstanceID = name
			r := begin(t, cfg, copyTo(in))
			soon(t, func() bool { return len(r.engine.Status().Partitions) == 1 }, "not joined")
			require.NoError(t, r.stop())
			require.Equal(t, want, members(t, c, cfg.ApplicationID))
			if want > 0 {
				_, err := c.Admin(t).LeaveGroup(t.Context(), kadm.LeaveGroup(cfg.ApplicationID).InstanceIDs(name))
				require.NoError(t, err)
			}
		})
	}
}
