package processor_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/internal/kafkatest"
	"github.com/weirstream/weir/processor"
)

// deleteBefore deletes the records of partition 0 before offset to.
func deleteBefore(t *testing.T, c *kafkatest.Cluster, topic string, to int64) {
	t.Helper()
	offsets := make(kadm.Offsets)
	offsets.AddOffset(topic, 0, to, -1)
	got, err := c.Admin(t).DeleteRecords(t.Context(), offsets)
	require.NoError(t, err)
	require.NoError(t, got.Error())
}

func TestRecordsDeletedBeforeTheyWereProcessedStopTheApplication(t *testing.T) {
	c := kafkatest.Start(t)
	in := c.Topic(t, "in", 1)
	id, out, app := processing(t, c, in)
	app.stop(t)
	put(t, c, in, "lost", "lost", "kept")
	deleteBefore(t, c, in, 3)

	err := start(t, c, id, split(in, out)).end(t)
	require.ErrorIs(t, err, eos.ErrOffsetsLost)
	require.EqualError(t, err, "eos: "+in+"[0]@1: 2 records up to 2 were deleted before they were processed; "+
		"raise the topic's retention; to go on without them set OnLostOffsets to SkipToEarliest")

	app = start(t, c, id, split(in, out), processor.WithLostOffsets(eos.SkipToEarliest))
	drained(t, c, id, in)
	app.stop(t)
	require.Equal(t, []string{"first", "kept"}, values(t, c, out))
}

func TestAGroupThatLostItsOffsetsIsNotStartedAnew(t *testing.T) {
	c := kafkatest.Start(t)
	in := c.Topic(t, "in", 1)
	id, out, app := processing(t, c, in, processor.WithInstanceID("one"))
	app.stop(t)
	leave(t, c, id, "one")
	_, err := c.Admin(t).DeleteGroup(t.Context(), id)
	require.NoError(t, err)

	err = start(t, c, id, split(in, out), processor.WithInstanceID("one")).end(t)
	require.ErrorIs(t, err, eos.ErrOffsetsLost)
	require.Regexp(t, fmt.Sprintf(`^eos: group %q has no committed offset, though "%s/one/\d+/\d+" shows that it has run before; `, id, id)+
		"the offsets expired or the group was deleted: set them with kafka-consumer-groups --reset-offsets, then start again$", err.Error())
}

func TestAPartitionThatLostItsOffsetIsNotStartedAnew(t *testing.T) {
	c := kafkatest.Start(t)
	in, other := c.Topic(t, "in", 1), c.Topic(t, "other", 1)
	id, out := kafkatest.Name("app"), c.Topic(t, "out", 1)
	put(t, c, in, "a", "b", "c")
	put(t, c, other, "x")
	app := start(t, c, id, two(in, other, out))
	drained(t, c, id, in, other)
	app.stop(t)
	deleteBefore(t, c, in, 2)
	gone := make(kadm.TopicsSet)
	gone.Add(in, 0)
	_, err := c.Admin(t).DeleteOffsets(t.Context(), id, gone)
	require.NoError(t, err)

	err = start(t, c, id, two(in, other, out)).end(t)
	require.ErrorIs(t, err, eos.ErrOffsetsLost)
	require.EqualError(t, err, "eos: "+in+"[0]: no committed offset, and the oldest record is at 2: "+
		"the offset expired, or the partition is new and already trimmed; "+
		"set it with kafka-consumer-groups --reset-offsets, then start again")
}

func TestASecondProcessWithTheInstanceIDEndsTheFirst(t *testing.T) {
	c := kafkatest.Start(t)
	in := c.Topic(t, "in", 1)
	id, out, first := processing(t, c, in, processor.WithInstanceID("one"))
	second := start(t, c, id, split(in, out), processor.WithInstanceID("one"))
	err := first.end(t)
	require.ErrorIs(t, err, eos.ErrFenced)
	require.EqualError(t, err, `eos: another process joined the group as "one": `+
		strings.TrimSuffix(kerr.FencedInstanceID.Error(), ".")+"; give each process its own instance id")
	put(t, c, in, "second")
	drained(t, c, id, in)
	second.stop(t)
	require.Equal(t, []string{"first", "second"}, values(t, c, out))
}
