package processor_test

import (
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/internal/kafkatest"
	"github.com/weirstream/weir/processor"
	"github.com/weirstream/weir/processor/deadletter"
	"github.com/weirstream/weir/topology"
)

// numbers reads decimal text, doubles it with double, and writes it to out.
func numbers(in, out string, double func(int) (int, error)) func(*topology.Builder) {
	return func(b *topology.Builder) {
		s := topology.Source[string, int](b, in, topology.String, topology.JSON[int]())
		topology.MapValues(s, "double", double).To(out, topology.String, topology.JSON[int]())
	}
}

func double(n int) (int, error) {
	switch n {
	case 13:
		return 0, errors.New("unlucky")
	case 666:
		panic("the devil")
	}
	return 2 * n, nil
}

func TestAFailedRecordStopsTheApplicationWithItsPlace(t *testing.T) {
	c := kafkatest.Start(t)
	for bad, text := range map[string]string{
		"nonsense": `the handler failed: task 0_0: decode in "IN": value: invalid character 'o' in literal null (expecting 'u')`,
		"13":       `the handler failed: task 0_0: process in "double": unlucky`,
		"666":      `the handler failed: task 0_0: process in "double": panic: the devil`,
	} {
		t.Run(bad, func(t *testing.T) {
			in, out, id := c.Topic(t, "in", 1), c.Topic(t, "out", 1), kafkatest.Name("fail")
			put(t, c, in, "1", "2", bad, "3")
			app := start(t, c, id, numbers(in, out, double))
			err := app.end(t)
			require.ErrorIs(t, err, eos.ErrHandler)
			require.EqualError(t, err, "eos: "+in+"[0]@2: "+strings.ReplaceAll(text, "IN", in)+
				"; mend the record or the handler; nothing of the record was written")
			var failed *processor.RecordError
			require.ErrorAs(t, err, &failed)
			require.Equal(t, []string{"2", "4"}, values(t, c, out), "the records before it commit")
			require.Equal(t, int64(2), c.CommittedOffsets(t, id)[in][0])
		})
	}
}

// late writes each record to out before the step that can fail.
func late(in, out string) func(*topology.Builder) {
	return func(b *topology.Builder) {
		s := topology.Source[string, int](b, in, topology.String, topology.JSON[int]())
		s.To(out, topology.String, topology.JSON[int](), topology.Name("first"))
		topology.MapValues(s, "double", double).To(out, topology.String, topology.JSON[int](), topology.Name("second"))
	}
}

func TestASkippedOrDeadRecordLeavesNoOutput(t *testing.T) {
	c := kafkatest.Start(t)
	for name, policy := range map[string]processor.Policy{"skip": processor.Skip(), "dead-letter": processor.DeadLetter()} {
		t.Run(name, func(t *testing.T) {
			in, out, id := c.Topic(t, "in", 1), c.Topic(t, "out", 1), kafkatest.Name(name)
			c.CreateTopic(t, id+"-dlq", 1, nil)
			put(t, c, in, "1", "nonsense", "13", "666", "2")
			app := start(t, c, id, late(in, out),
				processor.WithErrorPolicy(topology.PhaseDecode, policy), processor.WithErrorPolicy(topology.PhaseProcess, policy))
			drained(t, c, id, in)
			app.stop(t)
			require.Equal(t, []string{"1", "2", "2", "4"}, values(t, c, out))
			if name == "dead-letter" {
				require.Equal(t, []string{"nonsense", "13", "666"}, values(t, c, id+"-dlq"))
			}
		})
	}
}

func TestADeadLetterKeepsTheRecordAndNamesItsOrigin(t *testing.T) {
	c := kafkatest.Start(t)
	in, out, id := c.Topic(t, "in", 1), c.Topic(t, "out", 1), kafkatest.Name("dead")
	c.CreateTopic(t, id+"-dlq", 1, nil)
	at := time.UnixMilli(1700000000123)
	put(t, c, in, "1")
	c.Produce(t, &kgo.Record{
		Topic: in, Key: []byte("key"), Value: []byte("13"), Timestamp: at,
		Headers: []kgo.RecordHeader{{Key: "trace", Value: []byte("t1")}},
	})
	put(t, c, in, "2")
	app := start(t, c, id, numbers(in, out, double), processor.WithErrorPolicy(topology.PhaseProcess, processor.DeadLetter()))
	drained(t, c, id, in)
	app.stop(t)
	require.Equal(t, []string{"2", "4"}, values(t, c, out))

	dead := c.ReadCommitted(t, id+"-dlq")
	require.Len(t, dead, 1)
	require.Equal(t, "key", string(dead[0].Key))
	require.Equal(t, "13", string(dead[0].Value))
	require.Equal(t, at.UnixMilli(), dead[0].TimestampMillis)
	require.Equal(t, kafkatest.Header{Key: "trace", Value: []byte("t1")}, dead[0].Headers[0])
	l := letter(t, dead[0])
	require.WithinDuration(t, time.Now(), l.Time, time.Minute)
	topics, err := c.Admin(t).ListTopics(t.Context(), in)
	require.NoError(t, err)
	l.Time = time.Time{}
	require.Equal(t, deadletter.Letter{
		Topic: in, TopicID: topics[in].ID, Partition: 0, Offset: 1, Timestamp: at, Phase: "process", Operator: "double",
		Error: "unlucky", ApplicationID: id, KeySchema: deadletter.KeySchema,
	}, l)
}

func letter(t *testing.T, r kafkatest.Record) deadletter.Letter {
	t.Helper()
	var hs []kgo.RecordHeader
	for _, h := range r.Headers {
		hs = append(hs, kgo.RecordHeader(h))
	}
	l, err := deadletter.Parse(hs)
	require.NoError(t, err)
	return l
}

func TestARetriedRecordHoldsUpItsPartitionOnly(t *testing.T) {
	c := kafkatest.Start(t)
	in, out, id := c.Topic(t, "in", 2), c.Topic(t, "out", 1), kafkatest.Name("retry")
	var calls atomic.Int64
	flaky := func(n int) (int, error) {
		if n == 13 && calls.Add(1) <= 3 {
			return 0, errors.New("not yet")
		}
		return n, nil
	}
	put(t, c, in, "13", "1", "2")
	for i := range 3 {
		c.Produce(t, &kgo.Record{Topic: in, Partition: 1, Value: []byte(strconv.Itoa(100 + i))})
	}
	app := start(t, c, id, numbers(in, out, flaky),
		processor.WithErrorPolicy(topology.PhaseProcess, processor.Retry(3, 200*time.Millisecond, processor.Fail())))
	drained(t, c, id, in)
	app.stop(t)
	require.Equal(t, []string{"100", "101", "102", "13", "1", "2"}, values(t, c, out))
	require.Equal(t, int64(4), calls.Load())
}

func TestARecordThatKeepsFailingIsGivenUpAfterItsRetries(t *testing.T) {
	c := kafkatest.Start(t)
	in, out, id := c.Topic(t, "in", 1), c.Topic(t, "out", 1), kafkatest.Name("poison")
	c.CreateTopic(t, id+"-dlq", 1, nil)
	var calls atomic.Int64
	poison := func(n int) (int, error) {
		if n == 13 {
			calls.Add(1)
			return 0, errors.New("never")
		}
		return n, nil
	}
	put(t, c, in, "1", "13", "2")
	app := start(t, c, id, numbers(in, out, poison),
		processor.WithErrorPolicy(topology.PhaseProcess, processor.Retry(2, 10*time.Millisecond, processor.DeadLetter())))
	drained(t, c, id, in)
	app.stop(t)
	require.Equal(t, []string{"1", "2"}, values(t, c, out))
	require.Equal(t, []string{"13"}, values(t, c, id+"-dlq"))
	require.Equal(t, int64(3), calls.Load(), "once, and two retries")
}
