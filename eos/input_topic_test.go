package eos_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/internal/kafkatest"
)

func TestMissingInputTopicEndsTheStart(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	in, missing := c.Topic(t, "in", 1), kafkatest.Name("missing")
	cfg := config(t, c, kafkatest.Name("missing"), in)
	cfg.Topics = append(cfg.Topics, missing)
	err := begin(t, cfg, copyTo(in)).ended()
	require.EqualError(t, err, "eos: "+missing+": the input topic does not exist; create it, or mend the name")
	require.ErrorIs(t, err, eos.ErrTopic)
	require.Empty(t, c.CommittedOffsets(t, cfg.ApplicationID), "nothing was begun")
}

func deleteTopic(t *testing.T, c *kafkatest.Cluster, topic string) {
	t.Helper()
	_, err := c.Admin(t).DeleteTopics(t.Context(), topic)
	require.NoError(t, err)
}

func topicID(t *testing.T, c *kafkatest.Cluster, topic string) string {
	t.Helper()
	topics, err := c.Admin(t).ListTopics(t.Context(), topic)
	require.NoError(t, err)
	return topics[topic].ID.String()
}

func TestDeletedInputTopicEndsTheEngine(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	in, out := c.Topic(t, "in", 2), c.Topic(t, "out", 1)
	produceNumbers(t, c, in, 0, 10)
	cfg := config(t, c, kafkatest.Name("deleted"), in)
	r := begin(t, cfg, copyTo(out))
	drained(t, c, cfg.ApplicationID, in)
	deleteTopic(t, c, in)
	err := r.ended()
	require.EqualError(t, err, "eos: "+in+": the input topic was deleted while the application ran; "+
		"its offsets are gone with it: make it again and start under a new application id")
	require.ErrorIs(t, err, eos.ErrTopic)
}

func TestInputTopicMadeAnewEndsTheEngine(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	in, out := c.Topic(t, "in", 1), c.Topic(t, "out", 1)
	produceNumbers(t, c, in, 0, 10)
	was := topicID(t, c, in)
	cfg := config(t, c, kafkatest.Name("anew"), in)
	r := begin(t, cfg, copyTo(out))
	drained(t, c, cfg.ApplicationID, in)
	deleteTopic(t, c, in)
	soon(t, func() bool {
		_, err := c.Admin(t).CreateTopic(t.Context(), 1, -1, nil, in)
		return err == nil
	}, "the topic cannot be made again")
	err := r.ended()
	require.EqualError(t, err, "eos: "+in+": the input topic was deleted and made anew (topic id "+topicID(t, c, in)+", was "+was+"); "+
		"the committed offsets belong to the old topic: reset them with kafka-consumer-groups --reset-offsets, then start again")
	require.ErrorIs(t, err, eos.ErrTopic)
}

// TestAddedPartitionsAreReadFromTheirStart holds Config.Start = Latest, too: it
// speaks of a group that begins, not of a partition.
func TestAddedPartitionsAreReadFromTheirStart(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	in, out := c.Topic(t, "in", 1), c.Topic(t, "out", 1)
	cfg := config(t, c, kafkatest.Name("added"), in)
	cfg.Start = eos.Latest
	produce(t, c, in, "before the first start")
	r := begin(t, cfg, copyTo(out))
	soon(t, func() bool { return r.engine.Status().Joined }, "not joined")
	produce(t, c, in, "old partition")
	drained(t, c, cfg.ApplicationID, in)

	_, err := c.Admin(t).UpdatePartitions(t.Context(), 3, in)
	require.NoError(t, err)
	soon(t, func() bool { return len(c.EndOffsets(t, in)[in]) == 3 }, "no new partitions")
	added := time.Now()
	c.Produce(t, &kgo.Record{Topic: in, Partition: 1, Value: []byte("1")}, &kgo.Record{Topic: in, Partition: 2, Value: []byte("2")})
	soon(t, func() bool { return len(values(t, c, out)) == 3 }, "the new partitions are not read")
	t.Log("read after", time.Since(added))
	require.NoError(t, r.stop())
	require.ElementsMatch(t, []string{"old partition", "1", "2"}, values(t, c, out))
}
