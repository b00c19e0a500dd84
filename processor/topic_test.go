package processor_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/internal/kafkatest"
	"github.com/weirstream/weir/processor"
	"github.com/weirstream/weir/topology"
)

func TestAMissingTopicIsNamed(t *testing.T) {
	c := kafkatest.Start(t)
	there, missing, id := c.Topic(t, "there", 1), kafkatest.Name("missing"), kafkatest.Name("app")
	hint := fmt.Sprintf("create it (kafka-topics.sh --bootstrap-server %s --create --topic TOPIC --partitions N), or mend the name", c.Brokers()[0])
	dead := processor.WithErrorPolicy(topology.PhaseDecode, processor.DeadLetter())
	for name, tc := range map[string]struct {
		in, out string
		opts    []processor.Option
		topic   string
		use     string
	}{
		"input":       {missing, there, nil, missing, "input"},
		"output":      {there, missing, nil, missing, "output"},
		"dead letter": {there, c.Topic(t, "out", 1), []processor.Option{dead}, id + "-dlq", "dead letter"},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, stderr := program(t, id, split(tc.in, tc.out), tc.opts, "--brokers", c.Brokers()[0], "--state-dir", t.TempDir())
			require.Equal(t, fmt.Sprintf("%s: %s: the %s topic does not exist; %s\n", id, tc.topic, tc.use, replace(hint, "TOPIC", tc.topic)), stderr)
			require.Equal(t, 1, code)
		})
	}
}

// processing starts an application that has committed one record.
func processing(t *testing.T, c *kafkatest.Cluster, in string, opts ...processor.Option) (id, out string, app *running) {
	t.Helper()
	id, out = kafkatest.Name("app"), c.Topic(t, "out", 1)
	put(t, c, in, "first")
	app = start(t, c, id, split(in, out), opts...)
	drained(t, c, id, in)
	return id, out, app
}

func TestAnInputTopicDeletedWhileRunningStopsTheApplication(t *testing.T) {
	c := kafkatest.Start(t)
	in := c.Topic(t, "in", 1)
	_, _, app := processing(t, c, in)
	_, err := c.Admin(t).DeleteTopic(t.Context(), in)
	require.NoError(t, err)
	err = app.end(t)
	require.ErrorIs(t, err, eos.ErrTopic)
	require.EqualError(t, err, "eos: "+in+": the input topic was deleted while the application ran; "+
		"its offsets are gone with it: make it again and start under a new application id")
}

func TestAnInputTopicMadeAnewStopsTheApplication(t *testing.T) {
	c := kafkatest.Start(t)
	in := c.Topic(t, "in", 1)
	_, _, app := processing(t, c, in)
	before := topicID(t, c, in)
	_, err := c.Admin(t).DeleteTopic(t.Context(), in)
	require.NoError(t, err)
	c.CreateTopic(t, in, 1, nil)
	err = app.end(t)
	require.ErrorIs(t, err, eos.ErrTopic)
	require.EqualError(t, err, fmt.Sprintf("eos: %s: the input topic was deleted and made anew (topic id %s, was %s); "+
		"the committed offsets belong to the old topic: reset them with kafka-consumer-groups --reset-offsets, then start again",
		in, topicID(t, c, in), before))
}

func topicID(t *testing.T, c *kafkatest.Cluster, topic string) kadm.TopicID {
	t.Helper()
	topics, err := c.Admin(t).ListTopics(t.Context(), topic)
	require.NoError(t, err)
	return topics[topic].ID
}

func TestAddedPartitionsAreProcessedFromTheirStart(t *testing.T) {
	c := kafkatest.Start(t)
	in := c.Topic(t, "in", 1)
	id, out, app := processing(t, c, in)
	_, err := c.Admin(t).UpdatePartitions(t.Context(), 2, in)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(c.EndOffsets(t, in)[in]) == 2 }, waitLong, waitStep)
	c.Produce(t, &kgo.Record{Topic: in, Partition: 1, Value: []byte("new")})
	require.Eventually(t, func() bool { return c.CommittedOffsets(t, id)[in][1] == 1 }, waitLong, waitStep)
	app.stop(t)
	require.Equal(t, []string{"first", "new"}, values(t, c, out))
}
