package processor_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/weirstream/weir/internal/kafkatest"
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
