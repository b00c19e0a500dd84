package processor_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/internal/kafkatest"
	"github.com/weirstream/weir/processor"
	"github.com/weirstream/weir/topology"
)

func TestATopologyRunsOnKafka(t *testing.T) {
	c := kafkatest.Start(t)
	in, out, id := c.Topic(t, "lines", 1), c.Topic(t, "words", 1), kafkatest.Name("wordsplit")
	put(t, c, in, "to be or", "not to be")
	app := start(t, c, id, split(in, out))
	drained(t, c, id, in)
	app.stop(t)
	require.Equal(t, []string{"to", "be", "or", "not", "to", "be"}, values(t, c, out))
	require.Empty(t, c.OpenTransactions(t, id+"/"))
}

func TestRecordsPassARepartitionTopicWhichIsMadeFrozenAndTrimmed(t *testing.T) {
	c := kafkatest.Start(t)
	in, out, id := c.Topic(t, "in", 3), c.Topic(t, "out", 1), kafkatest.Name("rekey")
	internal := id + "-by-value-repartition"
	build := func(opts ...topology.RepartitionOption) func(*topology.Builder) {
		return func(b *topology.Builder) {
			s := topology.Source(b, in, topology.String, topology.String)
			s = topology.SelectKey(s, "value", func(_, v string) (string, error) { return v, nil })
			s.Repartition("by-value", topology.String, topology.String, opts...).To(out, topology.String, topology.String)
		}
	}
	for p := range int32(3) {
		c.Produce(t, &kgo.Record{Topic: in, Partition: p, Value: []byte("same")})
	}
	app := start(t, c, id, build(), processor.WithTrimInterval(trimOften))
	drained(t, c, id, in, internal)
	require.Equal(t, []string{"same", "same", "same"}, values(t, c, out))
	require.Len(t, c.EndOffsets(t, internal)[internal], 3, "as many partitions as the largest source")
	trimmed(t, c, id, internal)
	app.stop(t)

	app = start(t, c, id, build(topology.WithPartitions(5)))
	require.EqualError(t, app.end(t), "eos: "+internal+": the repartition topic has 3 partitions and the topology asks for 5; "+
		"the number is frozen once it holds records; set WithPartitions(3), or give the operator a new name")

	_, err := c.Admin(t).AlterTopicConfigs(t.Context(), retentionMs("1000"), internal)
	require.NoError(t, err)
	app = start(t, c, id, build())
	require.EqualError(t, app.end(t), "eos: "+internal+": the repartition topic has retention.ms=1000, "+
		"which can lose records before they are processed; set retention.ms=-1 on it")
}
