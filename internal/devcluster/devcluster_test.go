package devcluster_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weirstream/weir/internal/devcluster"
)

func start(t *testing.T, opts devcluster.Options) (*devcluster.Cluster, context.Context) {
	t.Helper()
	c, err := devcluster.Start(opts)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return c, ctx
}

func client(t *testing.T, c *devcluster.Cluster, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(c.Brokers()...)}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(cl.Close)
	return cl
}

// TestVersionsArePinned holds the wire versions of Kafka 3.9: one more in
// Produce and EndTxn would switch clients to the protocol of Kafka 4.
func TestVersionsArePinned(t *testing.T) {
	c, ctx := start(t, devcluster.Options{})
	resp, err := kmsg.NewPtrApiVersionsRequest().RequestWith(ctx, client(t, c))
	require.NoError(t, err)
	highest := make(map[int16]int16)
	for _, k := range resp.ApiKeys {
		highest[k.ApiKey] = k.MaxVersion
	}
	require.EqualValues(t, 11, highest[int16(kmsg.Produce)])
	require.EqualValues(t, 4, highest[int16(kmsg.EndTxn)])
	require.EqualValues(t, 4, highest[int16(kmsg.TxnOffsetCommit)])
}

func TestTopicsAreThere(t *testing.T) {
	c, ctx := start(t, devcluster.Options{Topics: map[string]int32{"in": 3, "out": 1}})
	topics, err := kadm.NewClient(client(t, c)).ListTopics(ctx)
	require.NoError(t, err)
	require.Len(t, topics["in"].Partitions, 3)
	require.Len(t, topics["out"].Partitions, 1)

	_, err = devcluster.Start(devcluster.Options{Topics: map[string]int32{"in": 0}})
	require.ErrorContains(t, err, "topic in: 0 partitions")
}

func TestInitGroupKeepsCommittedOffsets(t *testing.T) {
	c, ctx := start(t, devcluster.Options{Topics: map[string]int32{"in": 2}})
	admin := kadm.NewClient(client(t, c))
	require.NoError(t, c.InitGroup(ctx, "g", "in"))
	var moved kadm.Offsets
	moved.AddOffset("in", 1, 7, -1)
	require.NoError(t, admin.CommitAllOffsets(ctx, "g", moved))
	require.NoError(t, c.InitGroup(ctx, "g", "in"))

	got, err := admin.FetchOffsets(ctx, "g")
	require.NoError(t, err)
	first, _ := got.Lookup("in", 0)
	second, _ := got.Lookup("in", 1)
	require.EqualValues(t, 0, first.At)
	require.EqualValues(t, 7, second.At)
}

// TestTransactionCopy copies three records in one transaction with their
// offsets.
func TestTransactionCopy(t *testing.T) {
	c, ctx := start(t, devcluster.Options{Topics: map[string]int32{"in": 1, "out": 1}})
	require.NoError(t, c.InitGroup(ctx, "copy", "in"))
	for _, v := range []string{"a", "b", "c"} {
		require.NoError(t, client(t, c).ProduceSync(ctx, &kgo.Record{Topic: "in", Value: []byte(v)}).FirstErr())
	}
	session, err := kgo.NewGroupTransactSession(
		kgo.SeedBrokers(c.Brokers()...), kgo.ConsumerGroup("copy"), kgo.ConsumeTopics("in"),
		kgo.TransactionalID("copy"), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	require.NoError(t, err)
	defer session.Close()
	for copied := 0; copied < 3; {
		fetches := session.PollFetches(ctx)
		require.NoError(t, fetches.Err())
		require.NoError(t, session.Begin())
		fetches.EachRecord(func(r *kgo.Record) {
			session.Produce(ctx, &kgo.Record{Topic: "out", Value: r.Value}, nil)
			copied++
		})
		committed, err := session.End(ctx, kgo.TryCommit)
		require.NoError(t, err)
		require.True(t, committed)
	}
	reader := client(t, c, kgo.ConsumeTopics("out"), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	var values []string
	for len(values) < 3 {
		fetches := reader.PollFetches(ctx)
		require.NoError(t, fetches.Err())
		fetches.EachRecord(func(r *kgo.Record) { values = append(values, string(r.Value)) })
	}
	require.Equal(t, []string{"a", "b", "c"}, values)
	offsets, err := kadm.NewClient(client(t, c)).FetchOffsets(ctx, "copy")
	require.NoError(t, err)
	end, _ := offsets.Lookup("in", 0)
	require.EqualValues(t, 3, end.At)
}
