package crashtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/internal/crashtest"
	"github.com/weirstream/weir/internal/crashtest/verdict"
	"github.com/weirstream/weir/internal/kafkatest"
)

// A group that has not read its input, and a transaction left open whose
// records no reader sees: the judge finds each.
func TestTheJudgeSeesWhatIsLeftBehind(t *testing.T) {
	cluster := kafkatest.Start(t)
	in, out := cluster.Topic(t, "judge-in", 2), cluster.Topic(t, "judge-out", 1)
	app := crashtest.App{Group: kafkatest.Name("judge"), Inputs: []string{in}, Outputs: []string{out}}
	app.TransactionalIDs = app.Group + "/"
	app.Oracle = func(r verdict.Record) []verdict.Out { return []verdict.Out{{Topic: out, Key: r.Key, Value: r.Value}} }

	load := crashtest.Generate(t, cluster, crashtest.Load{Topic: in, Partitions: 2, PerSecond: 500, Records: 10, ValueBytes: 40})
	require.Equal(t, 10, load.Wait(t))
	err := crashtest.Drained(within(t, 5*time.Second), t, cluster, app)
	require.ErrorContains(t, err, in+"[0] 0 of 5, "+in+"[1] 0 of 5")

	inputs := cluster.ReadCommitted(t, in)
	require.Len(t, inputs, 10)
	require.Len(t, inputs[0].Value, 40)
	client := cluster.Client(t, kgo.TransactionalID(app.TransactionalIDs+"a"))
	require.NoError(t, client.BeginTransaction())
	for _, r := range inputs {
		require.NoError(t, client.ProduceSync(t.Context(), &kgo.Record{Topic: out, Key: r.Key, Value: r.Value}).FirstErr())
	}
	v := crashtest.Judge(t, cluster, app)
	require.Equal(t, 10, v.Of(verdict.Missing).Count)
	require.Equal(t, 2, v.Of(verdict.OffsetsNotAtEnd).Count)
	require.Equal(t, 2, v.Of(verdict.OpenTransactions).Count, "the id, and the partition whose end it hides: %v", v)
	require.Zero(t, v.Of(verdict.ReadersDisagree).Count)

	require.NoError(t, client.EndTransaction(t.Context(), kgo.TryCommit))
	offsets := kadm.Offsets{}
	for partition := range int32(2) {
		offsets.Add(kadm.Offset{Topic: in, Partition: partition, At: 5, LeaderEpoch: -1})
	}
	require.NoError(t, cluster.Admin(t).CommitAllOffsets(t.Context(), app.Group, offsets))
	require.NoError(t, crashtest.Drained(within(t, patience), t, cluster, app))
	v = crashtest.Judge(t, cluster, app)
	require.True(t, v.Clean(), v.String())
}
