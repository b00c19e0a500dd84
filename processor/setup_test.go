package processor_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/internal/kafkatest"
	"github.com/weirstream/weir/internal/pgtest"
	"github.com/weirstream/weir/processor"
	"github.com/weirstream/weir/topology"
)

func TestMain(m *testing.M) {
	if spec := os.Getenv(childEnv); spec != "" {
		childMain(spec)
	}
	os.Exit(kafkatest.Stop(pgtest.Stop(m.Run())))
}

// running is an application under test.
type running struct {
	app    *processor.App
	cancel context.CancelFunc
	done   chan error
}

// start runs an application; it is stopped with the test at the latest.
func start(t *testing.T, c *kafkatest.Cluster, id string, build func(*topology.Builder), opts ...processor.Option) *running {
	t.Helper()
	base := []processor.Option{
		processor.WithBrokers(c.Brokers()...), processor.WithStateDir(t.TempDir()),
		processor.WithLogger(slog.New(slog.DiscardHandler)),
	}
	app, err := processor.New(id, build, append(base, opts...)...)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{app: app, cancel: cancel, done: make(chan error, 1)}
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		r.done <- app.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-finished })
	return r
}

// stop ends the application and requires a clean end.
func (r *running) stop(t *testing.T) {
	t.Helper()
	r.cancel()
	require.NoError(t, r.end(t))
}

// end waits until Run has ended.
func (r *running) end(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.done:
		return err
	case <-time.After(60 * time.Second):
		t.Fatal("Run has not ended after 60s")
		return nil
	}
}

// drained waits until the group has committed to the end of topics.
func drained(t *testing.T, c *kafkatest.Cluster, group string, topics ...string) {
	t.Helper()
	require.Eventually(t, func() bool {
		at := c.CommittedOffsets(t, group)
		for topic, ends := range c.EndOffsets(t, topics...) {
			for p, end := range ends {
				if next, ok := at[topic][p]; next != end && (ok || end > 0) {
					return false
				}
			}
		}
		return true
	}, 30*time.Second, 50*time.Millisecond, "group %s does not reach the end of %v", group, topics)
}

// values are the values of topic as a read_committed reader sees them.
func values(t *testing.T, c *kafkatest.Cluster, topic string) []string {
	t.Helper()
	var out []string
	for _, r := range c.ReadCommitted(t, topic) {
		out = append(out, string(r.Value))
	}
	return out
}

// put writes values to partition 0 of topic.
func put(t *testing.T, c *kafkatest.Cluster, topic string, values ...string) {
	t.Helper()
	for _, v := range values {
		c.Produce(t, &kgo.Record{Topic: topic, Key: []byte("k"), Value: []byte(v)})
	}
}

// program runs the whole program and returns exit code, standard output and error.
func program(t *testing.T, id string, build func(*topology.Builder), opts []processor.Option, args ...string) (int, string, string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	code := processor.RunMain(ctx, id, build, opts, args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func split(in, out string) func(*topology.Builder) {
	return func(b *topology.Builder) {
		lines := topology.Source(b, in, topology.String, topology.String)
		words := topology.FlatMapValues(lines, "split", func(line string) ([]string, error) { return strings.Fields(line), nil })
		words.To(out, topology.String, topology.String)
	}
}

// uncompressed turns compression off, so that sizes are what they seem.
func uncompressed() kgo.Opt { return kgo.ProducerBatchCompression(kgo.NoCompression()) }

func recordAt(topic, value string, at time.Time) *kgo.Record {
	return &kgo.Record{Topic: topic, Key: []byte("k"), Value: []byte(value), Timestamp: at}
}

const (
	waitLong = 30 * time.Second
	waitStep = 100 * time.Millisecond
)

func replace(s, old, now string) string { return strings.ReplaceAll(s, old, now) }

// two merges two topics into out.
func two(a, b, out string) func(*topology.Builder) {
	return func(t *topology.Builder) {
		left := topology.Source(t, a, topology.String, topology.String)
		right := topology.Source(t, b, topology.String, topology.String)
		left.Merge("both", right).To(out, topology.String, topology.String)
	}
}

// leave takes a static member out of its group.
func leave(t *testing.T, c *kafkatest.Cluster, group, instance string) {
	t.Helper()
	_, err := c.Admin(t).LeaveGroup(t.Context(), kadm.LeaveGroup(group).InstanceIDs(instance))
	require.NoError(t, err)
}

// containsLine says whether text has line as one of its lines.
func containsLine(text, line string) bool {
	return slices.Contains(strings.Split(text, "\n"), line)
}
