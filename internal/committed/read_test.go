package committed_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/internal/committed"
	"github.com/weirstream/weir/internal/kafkatest"
)

func TestMain(m *testing.M) { kafkatest.Main(m) }

// begin writes value to topic in a transaction that is left open.
func begin(t *testing.T, c *kafkatest.Cluster, topic, value string) *kgo.Client {
	t.Helper()
	client := c.Client(t, kgo.TransactionalID(kafkatest.Name("txn")))
	require.NoError(t, client.BeginTransaction())
	require.NoError(t, client.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Value: []byte(value)}).FirstErr())
	return client
}

func read(t *testing.T, c *kafkatest.Cluster, topic string) []string {
	t.Helper()
	cluster := committed.New(c.Brokers(), 20*time.Second)
	ranges, err := cluster.Ranges(t.Context(), topic)
	require.NoError(t, err)
	var got []string
	require.NoError(t, cluster.Read(t.Context(), topic, ranges, func(r *kgo.Record) error {
		got = append(got, string(r.Value))
		return nil
	}))
	return got
}

func TestOnlyWhatIsCommittedIsRead(t *testing.T) {
	c := kafkatest.Start(t)
	topic := c.Topic(t, "in", 1)
	require.Empty(t, read(t, c, topic))
	c.Produce(t, &kgo.Record{Topic: topic, Value: []byte("plain")})
	require.NoError(t, begin(t, c, topic, "aborted").EndTransaction(t.Context(), kgo.TryAbort))
	require.Equal(t, []string{"plain"}, read(t, c, topic), "an aborted end is an end")
	require.NoError(t, begin(t, c, topic, "committed").EndTransaction(t.Context(), kgo.TryCommit))
	require.Equal(t, []string{"plain", "committed"}, read(t, c, topic))

	aborting := begin(t, c, topic, "aborted, too")
	open := begin(t, c, topic, "open")
	require.NoError(t, aborting.EndTransaction(t.Context(), kgo.TryAbort))
	require.Eventually(t, func() bool { return c.StableOffsets(t, topic)[topic][0] == 6 }, 10*time.Second, 50*time.Millisecond)
	began := time.Now()
	require.Equal(t, []string{"plain", "committed"}, read(t, c, topic), "what is before the open transaction shows itself in no record")
	require.Less(t, time.Since(began), 10*time.Second)
	require.NoError(t, open.EndTransaction(t.Context(), kgo.TryAbort))
}

func TestARangeAndAStopBoundTheReading(t *testing.T) {
	c := kafkatest.Start(t)
	topic := c.Topic(t, "in", 1)
	for _, v := range []string{"0", "1", "2", "3"} {
		c.Produce(t, &kgo.Record{Topic: topic, Value: []byte(v)})
	}
	cluster := committed.New(c.Brokers(), 20*time.Second)
	var got []string
	require.NoError(t, cluster.Read(t.Context(), topic, map[int32]committed.Range{0: {From: 1, To: 3}}, func(r *kgo.Record) error {
		got = append(got, string(r.Value))
		return nil
	}))
	require.Equal(t, []string{"1", "2"}, got)
	got = nil
	require.NoError(t, cluster.Follow(t.Context(), topic, func(r *kgo.Record) error {
		got = append(got, string(r.Value))
		return committed.ErrStop
	}))
	require.Equal(t, []string{"0"}, got)
}
