package eos

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func wrote(c *copies, key kmsg.Key, bytes int, err error) {
	c.OnBrokerWrite(kgo.BrokerMetadata{}, int16(key), bytes, 0, 0, err)
}

func read(c *copies, key kmsg.Key, err error) {
	c.OnBrokerRead(kgo.BrokerMetadata{}, int16(key), 10, 0, 0, err)
}

var errCut = errors.New("connection cut")

func TestCopyWithoutAnswerIsADoubt(t *testing.T) {
	t.Parallel()
	for _, key := range []kmsg.Key{kmsg.AddOffsetsToTxn, kmsg.AddPartitionsToTxn, kmsg.TxnOffsetCommit, kmsg.EndTxn} {
		c := newCopies()
		require.False(t, c.inDoubt())
		wrote(c, key, 80, nil)
		require.True(t, c.inDoubt(), "%s is on its way", key.Name())
		read(c, key, nil)
		require.False(t, c.inDoubt(), "%s is answered", key.Name())

		wrote(c, key, 80, nil) // cut before the answer; franz-go sends again
		read(c, key, errCut)
		wrote(c, key, 80, nil)
		read(c, key, nil)
		require.True(t, c.inDoubt(), "the first copy of %s may still arrive", key.Name())
	}
}

func TestFailedWriteIsADoubtOnceABytePassed(t *testing.T) {
	t.Parallel()
	c := newCopies()
	wrote(c, kmsg.EndTxn, 0, errCut)
	require.False(t, c.inDoubt(), "nothing left")
	wrote(c, kmsg.EndTxn, 1, errCut)
	require.True(t, c.inDoubt())
}

func TestAnswersOfOneRequestDoNotStandForAnother(t *testing.T) {
	t.Parallel()
	c := newCopies()
	wrote(c, kmsg.TxnOffsetCommit, 80, nil)
	read(c, kmsg.EndTxn, nil)
	require.True(t, c.inDoubt())
}

func TestRequestsThatMoveNoTransactionAreNotCounted(t *testing.T) {
	t.Parallel()
	c := newCopies()
	for _, key := range []kmsg.Key{kmsg.Produce, kmsg.Metadata, kmsg.InitProducerID, kmsg.FindCoordinator, kmsg.ApiVersions} {
		wrote(c, key, 80, nil)
		require.False(t, c.inDoubt(), key.Name())
	}
}

func TestWrittenPartitionsAreTakenOnce(t *testing.T) {
	t.Parallel()
	c := newCopies()
	c.OnProduceBatchWritten(kgo.BrokerMetadata{}, "a", 1, kgo.ProduceBatchMetrics{})
	c.OnProduceBatchWritten(kgo.BrokerMetadata{}, "a", 1, kgo.ProduceBatchMetrics{})
	c.OnProduceBatchWritten(kgo.BrokerMetadata{}, "b", 0, kgo.ProduceBatchMetrics{})
	require.Equal(t, map[partition]struct{}{{"a", 1}: {}, {"b", 0}: {}}, c.takeWritten())
	require.Empty(t, c.takeWritten())
}
