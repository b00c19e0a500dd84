package processor_test

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/internal/devcluster"
	"github.com/weirstream/weir/processor"
	"github.com/weirstream/weir/topology"
)

func TestARepartitioningTopologyRunsOnTheEmbeddedCluster(t *testing.T) {
	t.Parallel()
	fake, err := devcluster.Start(devcluster.Options{Topics: map[string]int32{"in": 3, "out": 1}})
	require.NoError(t, err)
	t.Cleanup(fake.Close)
	app, err := processor.New("rekey", func(b *topology.Builder) {
		s := topology.Source(b, "in", topology.String, topology.String)
		s = topology.SelectKey(s, "value", func(_, v string) (string, error) { return v, nil })
		s.Repartition("by-value", topology.String, topology.String).To("out", topology.String, topology.String)
	}, processor.WithBrokers(fake.Brokers()...), processor.WithStateDir(t.TempDir()),
		processor.WithLogger(slog.New(slog.DiscardHandler)), processor.WithTrimInterval(trimOften))
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- app.Run(t.Context()) }()

	client, err := kgo.NewClient(kgo.SeedBrokers(fake.Brokers()...), kgo.ConsumeTopics("out"),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	require.NoError(t, err)
	t.Cleanup(client.Close)
	require.NoError(t, client.ProduceSync(t.Context(), &kgo.Record{Topic: "in", Value: []byte("v")}).FirstErr())
	for n := 0; n == 0; {
		select {
		case err := <-done:
			require.NoError(t, err)
			t.Fatal("Run ended")
		default:
		}
		fetches := client.PollFetches(t.Context())
		require.NoError(t, fetches.Err0())
		n = fetches.NumRecords()
	}
}
