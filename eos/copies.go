package eos

import (
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// copies counts, for one producer client, the written copies of the requests
// that move a transaction and the answers read. franz-go resends by itself when
// a connection breaks; the first copy may still be on its way, and delivered
// late it can move offsets or end the next transaction (a request before
// KIP-890 part 2 carries no identity of its transaction). A copy without an
// answer therefore makes the outcome unknown even when a later copy succeeded.
//
// It also remembers which partitions were written, for the AddPartitionsToTxn
// of the next transaction.
type copies struct {
	mu      sync.Mutex
	open    map[int16]int // api key -> copies written and not answered
	written map[partition]struct{}
}

// partition names one partition of a topic.
type partition struct {
	topic string
	id    int32
}

var (
	_ kgo.HookBrokerWrite         = (*copies)(nil)
	_ kgo.HookBrokerRead          = (*copies)(nil)
	_ kgo.HookProduceBatchWritten = (*copies)(nil)
)

func newCopies() *copies {
	return &copies{open: map[int16]int{}, written: map[partition]struct{}{}}
}

// moves says whether a late copy of the request can change a transaction. A
// late Produce cannot: the sequence number of its batch is used up.
func moves(key int16) bool {
	switch kmsg.Key(key) {
	case kmsg.AddOffsetsToTxn, kmsg.AddPartitionsToTxn, kmsg.TxnOffsetCommit, kmsg.EndTxn:
		return true
	default:
		return false
	}
}

// OnBrokerWrite counts a copy. A failed write counts too: part of it, or all of
// it, may have left.
func (c *copies) OnBrokerWrite(_ kgo.BrokerMetadata, key int16, written int, _, _ time.Duration, err error) {
	if !moves(key) || (err != nil && written == 0) {
		return
	}
	c.mu.Lock()
	c.open[key]++
	c.mu.Unlock()
}

// OnBrokerRead counts an answer. franz-go reads it after the write hook of the
// same copy has returned.
func (c *copies) OnBrokerRead(_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, err error) {
	if !moves(key) || err != nil {
		return
	}
	c.mu.Lock()
	c.open[key]--
	c.mu.Unlock()
}

// OnProduceBatchWritten remembers the partition.
func (c *copies) OnProduceBatchWritten(_ kgo.BrokerMetadata, topic string, id int32, _ kgo.ProduceBatchMetrics) {
	c.mu.Lock()
	c.written[partition{topic, id}] = struct{}{}
	c.mu.Unlock()
}

// inDoubt says whether a copy has no answer.
func (c *copies) inDoubt() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.open {
		if n > 0 {
			return true
		}
	}
	return false
}

// takeWritten gives the partitions written since the last call.
func (c *copies) takeWritten() map[partition]struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.written
	c.written = make(map[partition]struct{}, len(w))
	return w
}
