package processor_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/weirstream/weir/internal/kafkatest"
	"github.com/weirstream/weir/processor"
	"github.com/weirstream/weir/topology"
)

const trimOften = 200 * time.Millisecond

// trimmed waits until the log of each partition starts at its committed offset,
// and requires that it never starts behind it.
func trimmed(t *testing.T, c *kafkatest.Cluster, group, topic string) {
	t.Helper()
	adm := c.Admin(t)
	require.Eventually(t, func() bool {
		starts, err := adm.ListStartOffsets(t.Context(), topic)
		require.NoError(t, err)
		committed, done := c.CommittedOffsets(t, group), true
		starts.Each(func(o kadm.ListedOffset) {
			at := committed[topic][o.Partition]
			require.LessOrEqual(t, o.Offset, at, "partition %d is trimmed beyond what is committed", o.Partition)
			done = done && o.Offset == at
		})
		return done
	}, 20*time.Second, 100*time.Millisecond, "%s is not trimmed", topic)
}

func retentionMs(v string) []kadm.AlterConfig {
	return []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "retention.ms", Value: &v}}
}

func TestNothingIsTrimmedBeforeItIsCommitted(t *testing.T) {
	c := kafkatest.Start(t)
	in, out, id := c.Topic(t, "in", 1), c.Topic(t, "out", 1), kafkatest.Name("hold")
	internal, release, held := id+"-next-repartition", make(chan struct{}), make(chan struct{}, 100)
	put(t, c, in, "1")
	app := start(t, c, id, func(b *topology.Builder) {
		s := topology.Source(b, in, topology.String, topology.String).Repartition("next", topology.String, topology.String)
		topology.MapValues(s, "hold", func(v string) (string, error) {
			if v == "hold" {
				held <- struct{}{}
				<-release
			}
			return v, nil
		}).To(out, topology.String, topology.String)
	}, processor.WithTrimInterval(trimOften), processor.WithLanes(2))
	drained(t, c, id, in, internal)
	put(t, c, in, "hold", "2")
	<-held
	ticks := time.NewTicker(trimOften)
	defer ticks.Stop()
	for range 10 {
		<-ticks.C
		starts, err := c.Admin(t).ListStartOffsets(t.Context(), internal)
		require.NoError(t, err)
		start, ok := starts.Lookup(internal, 0)
		require.True(t, ok)
		require.LessOrEqual(t, start.Offset, c.CommittedOffsets(t, id)[internal][0])
	}
	close(release)
	drained(t, c, id, in, internal)
	trimmed(t, c, id, internal)
	app.stop(t)
	require.Equal(t, []string{"1", "hold", "2"}, values(t, c, out))
}
