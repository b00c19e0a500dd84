package eos

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Out takes the outputs of the one record that a handler is working on. They
// are staged: handed to the producer when the handler has returned nil, dropped
// when it has returned an error. An Out is valid during the call only, in the
// goroutine of the call.
type Out struct {
	lane   int
	staged []*kgo.Record
}

// Produce stages r. Topic must be set; Partition, Timestamp (default: the time
// of sending), Key, Value and Headers as usual. The engine owns r from here on.
func (o *Out) Produce(r *kgo.Record) { o.staged = append(o.staged, r) }

// Lane is the number of the lane that is calling, from 0 to Config.Lanes-1. One
// goroutine at a time works in a lane: a handler can keep scratch space for
// each lane without a lock.
func (o *Out) Lane() int { return o.lane }

// Reset drops what has been staged for the record so far.
func (o *Out) Reset() {
	clear(o.staged)
	o.staged = o.staged[:0]
}

// Header keys written with Config.OriginHeaders. weir.topic_id holds the 16
// bytes of the topic id, weir.partition a big-endian int32, weir.offset a
// big-endian int64.
const (
	HeaderTopicID   = "weir.topic_id"
	HeaderPartition = "weir.partition"
	HeaderOffset    = "weir.offset"
)

func addOrigin(out *kgo.Record, in *kgo.Record, topicID [16]byte) {
	p := binary.BigEndian.AppendUint32(nil, uint32(in.Partition))
	o := binary.BigEndian.AppendUint64(nil, uint64(in.Offset))
	out.Headers = append(out.Headers[:len(out.Headers):len(out.Headers)],
		kgo.RecordHeader{Key: HeaderTopicID, Value: topicID[:]},
		kgo.RecordHeader{Key: HeaderPartition, Value: p},
		kgo.RecordHeader{Key: HeaderOffset, Value: o})
}

// Refusal says that a broker, or the client on its behalf, will never take an
// output: too large, a timestamp out of range, not authorised, no such topic.
type Refusal struct {
	// Output is the refused record, with its topic.
	Output *kgo.Record
	// Err is the cause, usually a *kerr.Error.
	Err error
}

// Error implements error.
func (r *Refusal) Error() string {
	return fmt.Sprintf("output to %s refused (key %d bytes, value %d bytes): %v",
		r.Output.Topic, len(r.Output.Key), len(r.Output.Value), r.Err)
}

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Err }

// retryLater is what RetryAfter returns.
type retryLater struct {
	err   error
	delay time.Duration
}

func (r *retryLater) Error() string { return fmt.Sprintf("retry in %v: %v", r.delay, r.err) }
func (r *retryLater) Unwrap() error { return r.err }

// RetryAfter is what a handler returns to have the same record again after
// delay. Only the record's partition waits; the records before it commit, no
// transaction is held open, and what the handler staged is dropped.
func RetryAfter(err error, delay time.Duration) error {
	return &retryLater{err: err, delay: delay}
}
