package processor_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/internal/kafkatest"
	"github.com/weirstream/weir/processor"
	"github.com/weirstream/weir/topology"
)

// blowUp writes the value "big" as 5000 bytes that do not compress, and the
// value "late" with a timestamp a year ahead.
func blowUp(in, out string) func(*topology.Builder) {
	return func(b *topology.Builder) {
		s := topology.Source(b, in, topology.String, topology.String)
		topology.MapMessage(s, "blow-up", func(m topology.Message[string, string]) (topology.Message[string, string], error) {
			switch m.Value {
			case "big":
				m.Value = strings.Repeat("0123456789", 500)
			case "late":
				m.Timestamp = time.Now().AddDate(1, 0, 0)
			}
			return m, nil
		}).To(out, topology.String, topology.String)
	}
}

// narrow makes a topic that refuses records over 2000 bytes or an hour ahead.
func narrow(t *testing.T, c *kafkatest.Cluster, name string) string {
	t.Helper()
	name = kafkatest.Name(name)
	c.CreateTopic(t, name, 1, map[string]string{
		"max.message.bytes": "2000", "message.timestamp.after.max.ms": "3600000", "compression.type": "uncompressed",
	})
	return name
}

var refusals = map[string]string{
	"big":  "output to OUT refused (key 1 bytes, value 5000 bytes): MESSAGE_TOO_LARGE: The request included a message larger than the max message size the server will accept (uncompressed_bytes=5010, compressed_bytes=5010)",
	"late": "output to OUT refused (key 1 bytes, value 4 bytes): INVALID_TIMESTAMP: The timestamp of the message is out of acceptable range",
}

func TestARefusedOutputStopsTheApplication(t *testing.T) {
	c := kafkatest.Start(t)
	for value, text := range refusals {
		t.Run(value, func(t *testing.T) {
			in, out, id := c.Topic(t, "in", 1), narrow(t, c, "out"), kafkatest.Name("refused")
			put(t, c, in, "a", value, "b")
			app := start(t, c, id, blowUp(in, out), processor.WithClientOptions(uncompressed()))
			err := app.end(t)
			require.ErrorIs(t, err, eos.ErrRefused)
			require.EqualError(t, err, "eos: "+in+"[0]@1: its output cannot be written: "+
				strings.ReplaceAll(text, "OUT", out)+"; mend the output, or handle the refusal")
			require.Equal(t, []string{"a"}, values(t, c, out))
		})
	}
}

func TestARefusedOutputBecomesADeadLetterOfItsInput(t *testing.T) {
	c := kafkatest.Start(t)
	in, out, id := c.Topic(t, "in", 1), narrow(t, c, "out"), kafkatest.Name("refused")
	c.CreateTopic(t, id+"-dlq", 1, nil)
	put(t, c, in, "a", "big", "b", "late", "c")
	app := start(t, c, id, blowUp(in, out), processor.WithClientOptions(uncompressed()),
		processor.WithErrorPolicy(topology.PhaseProduce, processor.DeadLetter()))
	drained(t, c, id, in)
	app.stop(t)
	require.Equal(t, []string{"a", "b", "c"}, values(t, c, out))
	dead := c.ReadCommitted(t, id+"-dlq")
	require.Len(t, dead, 2)
	for i, value := range []string{"big", "late"} {
		require.Equal(t, value, string(dead[i].Value))
		l := letter(t, dead[i])
		require.Equal(t, "produce", l.Phase)
		require.Equal(t, strings.ReplaceAll(refusals[value], "OUT", out), strings.TrimSuffix(l.Error, "."))
	}
}

func TestARefusedOutputCanBeSkipped(t *testing.T) {
	c := kafkatest.Start(t)
	in, out, id := c.Topic(t, "in", 1), narrow(t, c, "out"), kafkatest.Name("refused")
	put(t, c, in, "big", "late", "a")
	app := start(t, c, id, blowUp(in, out), processor.WithClientOptions(uncompressed()),
		processor.WithErrorPolicy(topology.PhaseProduce, processor.Skip()))
	drained(t, c, id, in)
	app.stop(t)
	require.Equal(t, []string{"a"}, values(t, c, out))
}

func TestADeadLetterTooLargeForItsTopicIsCut(t *testing.T) {
	c := kafkatest.Start(t)
	in, out, id := c.Topic(t, "in", 1), c.Topic(t, "out", 1), kafkatest.Name("cut")
	c.CreateTopic(t, id+"-dlq", 1, map[string]string{"max.message.bytes": "10000", "compression.type": "uncompressed"})
	put(t, c, in, strings.Repeat("x", 20000), "1")
	app := start(t, c, id, numbers(in, out, double), processor.WithClientOptions(uncompressed()),
		processor.WithErrorPolicy(topology.PhaseDecode, processor.DeadLetter()))
	drained(t, c, id, in)
	app.stop(t)
	require.Equal(t, []string{"2"}, values(t, c, out))
	dead := c.ReadCommitted(t, id+"-dlq")
	require.Len(t, dead, 1)
	require.Equal(t, 20000, letter(t, dead[0]).ValueCutFrom)
	require.Less(t, len(dead[0].Value), 10000)
	require.NotEmpty(t, dead[0].Value)
}

func TestADeadLetterWithARefusedTimestampGetsTheTimeOfNow(t *testing.T) {
	c := kafkatest.Start(t)
	in, out, id := c.Topic(t, "in", 1), c.Topic(t, "out", 1), kafkatest.Name("moved")
	c.CreateTopic(t, id+"-dlq", 1, map[string]string{"message.timestamp.before.max.ms": "3600000"})
	old := time.Now().AddDate(-1, 0, 0).Truncate(time.Millisecond)
	c.Produce(t, recordAt(in, "nonsense", old))
	app := start(t, c, id, numbers(in, out, double), processor.WithErrorPolicy(topology.PhaseDecode, processor.DeadLetter()))
	drained(t, c, id, in)
	app.stop(t)
	dead := c.ReadCommitted(t, id+"-dlq")
	require.Len(t, dead, 1)
	l := letter(t, dead[0])
	require.True(t, l.TimestampMoved)
	require.Equal(t, old.UnixMilli(), l.Timestamp.UnixMilli())
	require.WithinDuration(t, time.Now(), time.UnixMilli(dead[0].TimestampMillis), time.Minute)
}
