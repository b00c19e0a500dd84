package eos_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/internal/kafkatest"
)

// big is a value that outgrows at the record with the value "guilty".
func big(r *kgo.Record, size int) []byte {
	if string(r.Value) == "guilty" {
		out := make([]byte, size)
		_, _ = rand.NewChaCha8([32]byte{}).Read(out) // does not compress, never fails
		return out
	}
	return r.Value
}

// standIn writes a short value for a refused record.
func standIn(topic string) func(*kgo.Record, *eos.Refusal, *eos.Out) error {
	return func(r *kgo.Record, refusal *eos.Refusal, out *eos.Out) error {
		out.Produce(&kgo.Record{Topic: topic, Value: fmt.Appendf(nil, "%s at %d: %d bytes", r.Value, r.Offset, len(refusal.Output.Value))})
		return nil
	}
}

func numbersAndOneGuilty(n, guilty int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint(i)
	}
	out[guilty] = "guilty"
	return out
}

// TestOneRefusedOutputOfManyIsReplacedAlone: a broker refuses whole batches.
func TestOneRefusedOutputOfManyIsReplacedAlone(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		size   int // of the guilty output
		config map[string]string
	}{
		"by the client": {3 << 20, nil},
		"by the broker": {5000, map[string]string{"max.message.bytes": "4000"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := kafkatest.Start(t)
			in, out := c.Topic(t, "in", 1), kafkatest.Name("out")
			c.CreateTopic(t, out, 1, tc.config)
			sent := numbersAndOneGuilty(50, 17)
			produce(t, c, in, sent...)
			cfg := config(t, c, kafkatest.Name("large"), in)
			cfg.OnRefused = standIn(out)
			r := begin(t, cfg, func(rec *kgo.Record, o *eos.Out) error {
				o.Produce(&kgo.Record{Topic: out, Value: big(rec, tc.size)})
				return nil
			})
			drained(t, c, cfg.ApplicationID, in)
			produce(t, c, in, "behind")
			drained(t, c, cfg.ApplicationID, in)
			require.NoError(t, r.stop())
			sent[17] = fmt.Sprintf("guilty at 17: %d bytes", tc.size)
			require.Equal(t, append(sent, "behind"), values(t, c, out))
		})
	}
}

// TestATopicThatTakesSmallerBatchesRefusesNobody: the client's batch is larger
// than the topic's max.message.bytes, though no record is.
func TestATopicThatTakesSmallerBatchesRefusesNobody(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	in, out := c.Topic(t, "in", 1), kafkatest.Name("out")
	c.CreateTopic(t, out, 1, map[string]string{"max.message.bytes": "65536"})
	const n = 3000
	var sent []string
	for i := range n {
		sent = append(sent, fmt.Sprintf("%04d%s", i, strings.Repeat("x", 1000)))
	}
	produce(t, c, in, sent...)
	cfg := config(t, c, kafkatest.Name("small"), in)
	cfg.Client = append(cfg.Client, kgo.ProducerBatchCompression(kgo.NoCompression()))
	r := begin(t, cfg, copyTo(out))
	drained(t, c, cfg.ApplicationID, in)
	require.NoError(t, r.stop())
	require.Equal(t, sent, values(t, c, out))
}

func TestOutputWithATimestampOutOfRangeIsReplaced(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	in, out := c.Topic(t, "in", 1), kafkatest.Name("out")
	c.CreateTopic(t, out, 1, map[string]string{"message.timestamp.after.max.ms": "3600000"})
	sent := numbersAndOneGuilty(20, 0)
	produce(t, c, in, sent...)
	cfg := config(t, c, kafkatest.Name("timestamp"), in)
	var refusals atomic.Int32
	cfg.OnRefused = func(r *kgo.Record, refusal *eos.Refusal, o *eos.Out) error {
		if errors.Is(refusal, kerr.InvalidTimestamp) {
			refusals.Add(1)
		}
		return standIn(out)(r, refusal, o)
	}
	r := begin(t, cfg, func(rec *kgo.Record, o *eos.Out) error {
		ahead := time.Duration(0)
		if string(rec.Value) == "guilty" {
			ahead = 48 * time.Hour
		}
		o.Produce(&kgo.Record{Topic: out, Value: rec.Value, Timestamp: time.Now().Add(ahead)})
		return nil
	})
	drained(t, c, cfg.ApplicationID, in)
	require.NoError(t, r.stop())
	sent[0] = "guilty at 0: 6 bytes"
	require.Equal(t, sent, values(t, c, out))
	require.Positive(t, refusals.Load())
}

func TestRefusedOutputEndsTheEngineUnlessHandled(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	in, out := c.Topic(t, "in", 1), c.Topic(t, "out", 1)
	produce(t, c, in, numbersAndOneGuilty(20, 7)...)
	cfg := config(t, c, kafkatest.Name("unhandled"), in)
	err := begin(t, cfg, func(rec *kgo.Record, o *eos.Out) error {
		o.Produce(&kgo.Record{Topic: out, Key: []byte("key"), Value: big(rec, 3<<20)})
		return nil
	}).ended()
	require.EqualError(t, err, "eos: "+in+"[0]@7: its output cannot be written: output to "+out+
		" refused (key 3 bytes, value 3145728 bytes): "+kerr.MessageTooLarge.Error()+" (uncompressed_bytes=3145731); mend the output, or handle the refusal")
	require.ErrorIs(t, err, eos.ErrRefused)
	var refusal *eos.Refusal
	require.ErrorAs(t, err, &refusal)
	require.Len(t, refusal.Output.Value, 3<<20)
	require.Equal(t, []string{"0", "1", "2", "3", "4", "5", "6"}, values(t, c, out), "what is before the record is committed")
	require.Equal(t, int64(7), c.CommittedOffsets(t, cfg.ApplicationID)[in][0])
}

func TestRefusedStandInEndsTheEngine(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	in, out := c.Topic(t, "in", 1), c.Topic(t, "out", 1)
	produce(t, c, in, "0", "guilty", "2")
	cfg := config(t, c, kafkatest.Name("again"), in)
	cfg.OnRefused = func(_ *kgo.Record, refusal *eos.Refusal, o *eos.Out) error {
		o.Produce(&kgo.Record{Topic: out, Value: refusal.Output.Value})
		return nil
	}
	err := begin(t, cfg, func(rec *kgo.Record, o *eos.Out) error {
		o.Produce(&kgo.Record{Topic: out, Value: big(rec, 3<<20)})
		return nil
	}).ended()
	require.EqualError(t, err, "eos: "+in+"[0]@1: what stands in for its refused output was refused, too: output to "+out+
		" refused (key 0 bytes, value 3145728 bytes): "+kerr.MessageTooLarge.Error()+" (uncompressed_bytes=3145728); mend the refusal handler")
	require.ErrorIs(t, err, eos.ErrRefused)
}

func TestMissingOutputTopicIsARefusal(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	in, missing := c.Topic(t, "in", 1), kafkatest.Name("missing")
	produce(t, c, in, "0", "1", "2")
	cfg := config(t, c, kafkatest.Name("no-output"), in)
	err := begin(t, cfg, copyTo(missing)).ended()
	require.EqualError(t, err, "eos: "+in+"[0]@0: its output cannot be written: output to "+missing+
		" refused (key 0 bytes, value 1 bytes): "+strings.TrimSuffix(kerr.UnknownTopicOrPartition.Error(), ".")+"; mend the output, or handle the refusal")
	require.ErrorIs(t, err, eos.ErrRefused)
	require.Equal(t, int64(0), c.CommittedOffsets(t, cfg.ApplicationID)[in][0])
}

// TestATopicThatIsThereByNowRefusesNobody: a broker that has just started, or
// old metadata, lets a topic look unknown; what would replace the output is
// final.
func TestATopicThatIsThereByNowRefusesNobody(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	in, late := c.Topic(t, "in", 1), kafkatest.Name("late")
	produce(t, c, in, "0")
	cfg := config(t, c, kafkatest.Name("late-output"), in)
	var refusals atomic.Int32
	cfg.OnRefused = func(*kgo.Record, *eos.Refusal, *eos.Out) error {
		refusals.Add(1)
		return nil
	}
	var once sync.Once
	cfg.Observer = eos.ObserverFunc(func(e eos.Event) {
		if e.Kind == eos.Aborting { // it was refused, and nothing is decided yet
			once.Do(func() { c.CreateTopic(t, late, 1, nil) })
		}
	})
	r := begin(t, cfg, copyTo(late))
	drained(t, c, cfg.ApplicationID, in)
	require.NoError(t, r.stop())
	require.Zero(t, refusals.Load())
	require.Equal(t, []string{"0"}, values(t, c, late))
}
