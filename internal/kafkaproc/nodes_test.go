package kafkaproc_test

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weirstream/weir/internal/kafkaproc"
)

// TestThreeNodesSurviveOne kills one node of three, then freezes another: acks
// from all replicas still come in the first case, and the second shows that the
// frozen node is the one meant.
func TestThreeNodesSurviveOne(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	c, err := kafkaproc.Start(ctx, kafkaproc.Options{Nodes: 3})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Stop()) })
	require.Len(t, c.Brokers(), 3)

	// A topic takes a moment to reach every node.
	client, err := kgo.NewClient(kgo.SeedBrokers(c.Brokers()...), kgo.MetadataMinAge(50*time.Millisecond), kgo.UnknownTopicRetries(-1))
	require.NoError(t, err)
	defer client.Close()
	admin := kadm.NewClient(client)
	_, err = admin.CreateTopic(ctx, 3, -1, nil, "t")
	require.NoError(t, err)
	write := func() {
		t.Helper()
		require.NoError(t, client.ProduceSync(ctx, &kgo.Record{Topic: "t", Value: []byte("v")}).FirstErr())
	}
	brokers := func(want int) func() bool {
		return func() bool {
			req := kmsg.NewPtrMetadataRequest() // past the client's cache
			req.Topics = []kmsg.MetadataRequestTopic{}
			meta, err := req.RequestWith(ctx, client)
			return err == nil && len(meta.Brokers) == want
		}
	}
	write()
	require.NoError(t, c.Kill(0))
	require.ErrorContains(t, c.Signal(0, syscall.SIGSTOP), "node 0 is not running")
	require.Eventually(t, brokers(2), time.Minute, 100*time.Millisecond)
	write()
	require.NoError(t, c.StartNode(ctx, 0))
	require.ErrorContains(t, c.StartNode(ctx, 0), "node 0 is already running")
	require.Eventually(t, brokers(3), time.Minute, 100*time.Millisecond)

	require.NoError(t, c.Signal(1, syscall.SIGSTOP))
	require.Eventually(t, brokers(2), time.Minute, 100*time.Millisecond)
	require.NoError(t, c.Signal(1, syscall.SIGCONT))
	require.Eventually(t, brokers(3), time.Minute, 100*time.Millisecond)
	write()
	require.ErrorContains(t, c.Kill(3), "node 3: there are 3")
}
