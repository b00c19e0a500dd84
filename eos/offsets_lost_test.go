package eos_test

import (
	"fmt"
	"io"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/internal/kafkatest"
)

func trim(t *testing.T, c *kafkatest.Cluster, topic string, partition int32, at int64) {
	t.Helper()
	var o kadm.Offsets
	o.AddOffset(topic, partition, at, -1)
	_, err := c.Admin(t).DeleteRecords(t.Context(), o)
	require.NoError(t, err)
}

func commit(t *testing.T, c *kafkatest.Cluster, group, topic string, partition int32, at int64) {
	t.Helper()
	var o kadm.Offsets
	o.AddOffset(topic, partition, at, -1)
	require.NoError(t, c.Admin(t).CommitAllOffsets(t.Context(), group, o))
}

func TestRecordsDeletedBeforeTheStart(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	in, out := c.Topic(t, "in", 1), c.Topic(t, "out", 1)
	produceNumbers(t, c, in, 0, 10)
	cfg := config(t, c, kafkatest.Name("lost"), in)
	commit(t, c, cfg.ApplicationID, in, 0, 3)
	deleteBefore(t, c, in, 8)

	err := begin(t, cfg, copyTo(out)).ended()
	require.EqualError(t, err, "eos: "+in+"[0]@3: 5 records up to 7 were deleted before they were processed; "+
		"raise the topic's retention; to go on without them set OnLostOffsets to SkipToEarliest")
	require.ErrorIs(t, err, eos.ErrOffsetsLost)
	require.Empty(t, values(t, c, out))

	var seen events
	cfg.OnLostOffsets, cfg.Observer = eos.SkipToEarliest, &seen
	r := begin(t, cfg, copyTo(out))
	drained(t, c, cfg.ApplicationID, in)
	require.NoError(t, r.stop())
	require.Equal(t, []string{"8", "9"}, values(t, c, out))
	require.Equal(t, []eos.Event{{Kind: eos.OffsetsSkipped, Records: 5, Partitions: map[string][]int32{in: {0}}}}, seen.of(eos.OffsetsSkipped))
	require.Equal(t, 1, r.log.count("records were deleted before they were processed"))
}

// overtaken starts an engine whose first record waits until the log has been
// trimmed beyond what was fetched.
func overtaken(t *testing.T, c *kafkatest.Cluster, cfg eos.Config, in, out string) *running {
	t.Helper()
	produce(t, c, in, "first")
	gate, waiting := make(chan struct{}), make(chan struct{}, 1)
	r := begin(t, cfg, func(rec *kgo.Record, o *eos.Out) error {
		if string(rec.Value) == "held" {
			waiting <- struct{}{}
			<-gate
		}
		return copyTo(out)(rec, o)
	})
	drained(t, c, cfg.ApplicationID, in)
	produce(t, c, in, "held")
	<-waiting
	for i := range 8 { // the queue holds one record, so the rest is not fetched
		produce(t, c, in, fmt.Sprint(i))
	}
	soon(t, func() bool { return r.engine.Status().Partitions[0].Queued > 0 }, "nothing is queued")
	trim(t, c, in, 0, 9)
	close(gate)
	return r
}

func smallFetches(cfg eos.Config) eos.Config {
	cfg.QueueRecords = 1
	cfg.Client = []kgo.Opt{kgo.FetchMaxBytes(1), kgo.FetchMaxPartitionBytes(1)}
	return cfg
}

func TestRecordsDeletedWhileRunningEndTheEngine(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	in, out := c.Topic(t, "in", 1), c.Topic(t, "out", 1)
	cfg := smallFetches(config(t, c, kafkatest.Name("overtaken"), in))
	err := overtaken(t, c, cfg, in, out).ended()
	require.ErrorIs(t, err, eos.ErrOffsetsLost)
	require.Regexp(t, `^eos: `+in+`\[0\]@\d+: \d records up to 8 were deleted before they were processed; `+
		`raise the topic's retention; to go on without them set OnLostOffsets to SkipToEarliest$`, err.Error())
}

func TestRecordsDeletedWhileRunningAreSkipped(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	in, out := c.Topic(t, "in", 1), c.Topic(t, "out", 1)
	var seen events
	cfg := smallFetches(config(t, c, kafkatest.Name("skipped"), in))
	cfg.OnLostOffsets, cfg.Observer = eos.SkipToEarliest, &seen
	r := overtaken(t, c, cfg, in, out)
	drained(t, c, cfg.ApplicationID, in)
	require.NoError(t, r.stop())
	got := values(t, c, out)
	require.Equal(t, []string{"first", "held"}, got[:2])
	require.Equal(t, "7", got[len(got)-1])
	skipped := seen.of(eos.OffsetsSkipped)
	require.Len(t, skipped, 1)
	require.Equal(t, 10, len(got)+skipped[0].Records, "every record is written or counted as skipped: %v", got)
}

func TestLostGroupIsNotReadFromTheStartAgain(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	in, out := c.Topic(t, "in", 1), c.Topic(t, "out", 1)
	produceNumbers(t, c, in, 0, 10)
	cfg := config(t, c, kafkatest.Name("gone"), in)
	cfg.InstanceID = "blue"
	r := begin(t, cfg, copyTo(out))
	drained(t, c, cfg.ApplicationID, in)
	require.NoError(t, r.stop())
	_, err := c.Admin(t).LeaveGroup(t.Context(), kadm.LeaveGroup(cfg.ApplicationID).InstanceIDs("blue"))
	require.NoError(t, err)
	_, err = c.Admin(t).DeleteGroup(t.Context(), cfg.ApplicationID)
	require.NoError(t, err)

	err = begin(t, cfg, copyTo(out)).ended()
	require.ErrorIs(t, err, eos.ErrOffsetsLost)
	require.Regexp(t, `^eos: group "`+cfg.ApplicationID+`" has no committed offset, though "`+cfg.ApplicationID+`/blue/0/[01]" shows that it has run before; `+
		`the offsets expired or the group was deleted: set them with kafka-consumer-groups --reset-offsets, then start again$`, err.Error())
	require.Len(t, values(t, c, out), 10, "nothing was written twice")

	commit(t, c, cfg.ApplicationID, in, 0, 10) // what the message asks for
	r = begin(t, cfg, copyTo(out))
	produce(t, c, in, "new")
	drained(t, c, cfg.ApplicationID, in)
	require.NoError(t, r.stop())
	require.Len(t, values(t, c, out), 11)
}

func TestPartitionWithoutOffsetIsNew(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	in, out := c.Topic(t, "in", 2), c.Topic(t, "out", 1)
	c.Produce(t, &kgo.Record{Topic: in, Partition: 0, Value: []byte("a")}, &kgo.Record{Topic: in, Partition: 1, Value: []byte("b")})
	cfg := config(t, c, kafkatest.Name("new"), in)
	cfg.Start = eos.Latest
	commit(t, c, cfg.ApplicationID, in, 0, 1)
	r := begin(t, cfg, copyTo(out))
	drained(t, c, cfg.ApplicationID, in)
	require.NoError(t, r.stop())
	require.Equal(t, []string{"b"}, values(t, c, out))
}

func TestPartitionWithoutOffsetAndWithoutStartEndsTheEngine(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t)
	in, out := c.Topic(t, "in", 2), c.Topic(t, "out", 1)
	for range 3 {
		c.Produce(t, &kgo.Record{Topic: in, Partition: 1, Value: []byte("b")})
	}
	cfg := config(t, c, kafkatest.Name("expired"), in)
	commit(t, c, cfg.ApplicationID, in, 0, 0)
	trim(t, c, in, 1, 2)
	err := begin(t, cfg, copyTo(out)).ended()
	require.EqualError(t, err, "eos: "+in+"[1]: no committed offset, and the oldest record is at 2: the offset expired, or the partition is new and already trimmed; "+
		"set it with kafka-consumer-groups --reset-offsets, then start again")
	require.ErrorIs(t, err, eos.ErrOffsetsLost)
	require.Empty(t, values(t, c, out))
}

// TestOffsetsReadWhileOutOfTheGroupAreAskedForAgain: what a member reads back
// after an unknown outcome may be a new owner's, when it has lost its partitions
// and does not know it yet.
func TestOffsetsReadWhileOutOfTheGroupAreAskedForAgain(t *testing.T) {
	t.Parallel()
	fake, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.MaxVersions(kversion.V3_9_0()), kfake.SeedTopics(1, "in", "out"))
	require.NoError(t, err)
	t.Cleanup(fake.Close)
	client, err := kgo.NewClient(kgo.SeedBrokers(fake.ListenAddrs()...), kgo.DefaultProduceTopic("in"))
	require.NoError(t, err)
	t.Cleanup(client.Close)
	require.NoError(t, client.ProduceSync(t.Context(), kgo.StringRecord("first"), kgo.StringRecord("second")).FirstErr())
	var start kadm.Offsets
	start.AddOffset("in", 0, 0, -1)
	require.NoError(t, kadm.NewClient(client).CommitAllOffsets(t.Context(), "app", start))

	// The answer of EndTxn is lost; the committed offset that is read back then
	// is ahead of all that this member sent, and the group has gone on without it.
	var doubt, outside atomic.Bool
	fake.ControlKey(int16(kmsg.EndTxn), func(kmsg.Request) (kmsg.Response, error, bool) {
		doubt.Store(true)
		return nil, io.EOF, true
	})
	fake.ControlKey(int16(kmsg.OffsetFetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		if fetch, ok := req.(*kmsg.OffsetFetchRequest); !doubt.Load() || !ok || !fetch.RequireStable { // the test asks, too
			return nil, nil, false
		}
		outside.Store(true)
		return committedAt(req, 1000), nil, true
	})
	fake.ControlKey(int16(kmsg.Heartbeat), func(req kmsg.Request) (kmsg.Response, error, bool) {
		if !outside.Load() {
			return nil, nil, false
		}
		resp, ok := req.ResponseKind().(*kmsg.HeartbeatResponse)
		if !ok {
			return nil, nil, false
		}
		resp.ErrorCode = kerr.IllegalGeneration.Code
		return resp, nil, true
	})
	r := begin(t, eos.Config{ApplicationID: "app", Brokers: fake.ListenAddrs(), Topics: []string{"in"}, StateDir: t.TempDir()}, copyTo("out"))
	soon(t, func() bool {
		at, err := kadm.NewClient(client).FetchOffsets(t.Context(), "app")
		last, _ := at.Lookup("in", 0)
		return err == nil && last.At == 2
	}, "both records are committed")
	require.NoError(t, r.stop())
	require.True(t, outside.Load(), "the offset of another was read")
}

// committedAt answers an OffsetFetch with at for every partition asked for.
func committedAt(asked kmsg.Request, at int64) kmsg.Response {
	req, isFetch := asked.(*kmsg.OffsetFetchRequest)
	resp, hasAnswer := asked.ResponseKind().(*kmsg.OffsetFetchResponse)
	if !isFetch || !hasAnswer {
		return nil
	}
	for _, g := range req.Groups {
		answer := kmsg.NewOffsetFetchResponseGroup()
		answer.Group = g.Group
		for _, t := range g.Topics {
			topic := kmsg.NewOffsetFetchResponseGroupTopic()
			topic.Topic = t.Topic
			for _, id := range t.Partitions {
				p := kmsg.NewOffsetFetchResponseGroupTopicPartition()
				p.Partition, p.Offset = id, at
				topic.Partitions = append(topic.Partitions, p)
			}
			answer.Topics = append(answer.Topics, topic)
		}
		resp.Groups = append(resp.Groups, answer)
	}
	return resp
}
