package kafkatest_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/internal/kafkatest"
)

// TestOffsetsAroundAnOpenTransaction has the LSO stay before an open transaction
// while the end moves on.
func TestOffsetsAroundAnOpenTransaction(t *testing.T) {
	c := kafkatest.Start(t)
	topic := c.Topic(t, "offsets", 1)
	c.Produce(t, &kgo.Record{Topic: topic, Value: []byte("before")})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	id := kafkatest.Name("offsets")
	producer := c.Client(t, kgo.TransactionalID(id))
	require.NoError(t, producer.BeginTransaction())
	require.NoError(t, producer.ProduceSync(ctx, &kgo.Record{Topic: topic, Value: []byte("open")}).FirstErr())
	c.Produce(t, &kgo.Record{Topic: topic, Value: []byte("behind")})

	require.Equal(t, kafkatest.Offsets{topic: {0: 3}}, c.EndOffsets(t, topic))
	require.Equal(t, kafkatest.Offsets{topic: {0: 1}}, c.StableOffsets(t, topic))
	require.Equal(t, []string{"before"}, values(c.ReadCommitted(t, topic)))
	require.Equal(t, []string{"before"}, values(c.ReadCommittedJava(t, topic)))
	open := c.OpenTransactions(t, id)
	require.Len(t, open, 1)
	require.Equal(t, "Ongoing", open[0].State)
	require.True(t, open[0].Topics.Lookup(topic, 0))
	require.NoError(t, producer.EndTransaction(ctx, kgo.TryCommit))
	require.Eventually(t, func() bool { return c.StableOffsets(t, topic)[topic][0] == 4 }, 10*time.Second, 50*time.Millisecond)
	require.Equal(t, []string{"before", "open", "behind"}, values(c.ReadCommitted(t, topic)))

	group := kafkatest.Name("group")
	var next kadm.Offsets
	next.AddOffset(topic, 0, 2, -1)
	require.NoError(t, c.Admin(t).CommitAllOffsets(ctx, group, next))
	require.Equal(t, kafkatest.Offsets{topic: {0: 2}}, c.CommittedOffsets(t, group))
}
