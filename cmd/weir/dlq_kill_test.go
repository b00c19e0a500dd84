package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/internal/kafkatest"
)

// TestAKilledReplayIsFinishedByTheNext kills replays with SIGKILL after their
// first commits; together they send each letter once.
func TestAKilledReplayIsFinishedByTheNext(t *testing.T) {
	c := kafkatest.Start(t)
	in, dlq := c.Topic(t, "in", 1), c.Topic(t, "dlq", 1)
	const n = 1500
	put(t, c, dlq, in, n, -1)
	at := []string{"dlq", "replay", "--pending", "--topic", dlq, "--brokers", c.Brokers()[0]}
	for range 3 {
		cmd := command(t, at...)
		stdout, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		require.True(t, bufio.NewScanner(stdout).Scan(), "a first transaction commits")
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait())
	}
	before := len(c.ReadCommitted(t, in))
	t.Logf("%d of %d letters were sent by the killed replays", before, n)
	require.Positive(t, before)
	require.Less(t, before, n)
	succeed(t, "", at...)
	sent := map[string]int{}
	for _, v := range values(t, c, in) {
		sent[v]++
	}
	require.Len(t, sent, n)
	for i := range n {
		require.Equal(t, 1, sent[fmt.Sprintf("value %d", i)], "letter %d", i)
	}
	require.Empty(t, c.OpenTransactions(t, dlq))
}

// TestAReplayEndsWhatAnotherHasOpen leaves a transaction as a killed or stalled
// replay does, replays, and lets the stalled one try to commit.
func TestAReplayEndsWhatAnotherHasOpen(t *testing.T) {
	c := kafkatest.Start(t)
	in, dlq := c.Topic(t, "in", 1), c.Topic(t, "dlq", 1)
	put(t, c, dlq, in, 1, -1)
	stalled := c.Client(t, kgo.TransactionalID(dlq+"-replay"))
	require.NoError(t, stalled.BeginTransaction())
	require.NoError(t, stalled.ProduceSync(t.Context(), &kgo.Record{Topic: in, Value: []byte("value 0")}).FirstErr())

	succeed(t, "", "dlq", "replay", "--all", "--topic", dlq, "--brokers", c.Brokers()[0])
	require.Error(t, stalled.EndTransaction(t.Context(), kgo.TryCommit))
	require.Equal(t, []string{"value 0"}, values(t, c, in))
}

// TestReplaysAtOnceSendEachLetterOnce runs three at the same time: each ends well
// or is fenced by another, and a last one sends what they left.
func TestReplaysAtOnceSendEachLetterOnce(t *testing.T) {
	c := kafkatest.Start(t)
	in, dlq := c.Topic(t, "in", 1), c.Topic(t, "dlq", 1)
	const n = 1000
	put(t, c, dlq, in, n, -1)
	at := []string{"dlq", "replay", "--pending", "--topic", dlq, "--brokers", c.Brokers()[0]}
	var replays [3]*exec.Cmd
	var complaints [3]bytes.Buffer
	for i := range replays {
		replays[i] = command(t, at...)
		replays[i].Stderr = &complaints[i]
		require.NoError(t, replays[i].Start())
	}
	for i, replay := range replays {
		if err := replay.Wait(); err != nil {
			require.Equal(t, "weir: another replay of "+dlq+" has taken over; what it did is in "+dlq+"-replayed\n", complaints[i].String())
		}
	}
	succeed(t, "", at...)
	sent := map[string]int{}
	for _, v := range values(t, c, in) {
		sent[v]++
	}
	require.Len(t, sent, n)
	for v, times := range sent {
		require.Equal(t, 1, times, v)
	}
}
