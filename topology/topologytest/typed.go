package topologytest

import (
	"errors"

	"github.com/weirstream/weir/topology"
)

// Input pipes typed records into one topic.
type Input[K, V any] struct {
	d     *Driver
	topic string
	key   topology.Serde[K]
	value topology.Serde[V]
}

// NewInput returns an Input for a topic that the topology reads.
func NewInput[K, V any](d *Driver, topic string, key topology.Serde[K], value topology.Serde[V]) *Input[K, V] {
	return &Input[K, V]{d, topic, key, value}
}

// Pipe is [Driver.Pipe] of a key and a value, at the clock's time, into the
// partition of the key.
func (in *Input[K, V]) Pipe(key K, value V) {
	in.d.t.Helper()
	in.PipeMessage(topology.Message[K, V]{Key: key, Value: value})
}

// PipeMessage is [Input.Pipe] with headers and, unless zero, a timestamp. NullKey
// makes the key null. Its Origin is not used.
func (in *Input[K, V]) PipeMessage(m topology.Message[K, V]) {
	in.d.t.Helper()
	if err := in.TryPipeMessage(m); err != nil {
		in.d.t.Fatalf("topologytest: %v", err)
	}
}

// TryPipe is [Input.Pipe] that returns errors as [Driver.TryPipe] does.
func (in *Input[K, V]) TryPipe(key K, value V) error {
	in.d.t.Helper()
	return in.TryPipeMessage(topology.Message[K, V]{Key: key, Value: value})
}

// TryPipeMessage is [Input.PipeMessage] that returns errors as [Driver.TryPipe]
// does. A key or value that cannot be encoded fails the test.
func (in *Input[K, V]) TryPipeMessage(m topology.Message[K, V]) error {
	in.d.t.Helper()
	rec := topology.Record{Headers: m.Headers, Timestamp: m.Timestamp}
	var err error
	if !m.NullKey {
		if rec.Key, err = in.key.Append([]byte{}, m.Key); err != nil {
			in.d.t.Fatalf("topologytest: topic %s: key %v: %v", in.topic, m.Key, err)
		}
	}
	if rec.Value, err = in.value.Append([]byte{}, m.Value); err != nil {
		in.d.t.Fatalf("topologytest: topic %s: value %v: %v", in.topic, m.Value, err)
	}
	rec.Topic, rec.Partition = in.topic, in.d.partition(in.topic, rec.Key)
	return in.d.TryPipe(rec)
}

// Output reads typed records from one topic.
type Output[K, V any] struct {
	d     *Driver
	topic string
	key   topology.Serde[K]
	value topology.Serde[V]
}

// NewOutput returns an Output for a topic that the topology writes.
func NewOutput[K, V any](d *Driver, topic string, key topology.Serde[K], value topology.Serde[V]) *Output[K, V] {
	return &Output[K, V]{d, topic, key, value}
}

// Messages returns what was written since the last read of the topic, as
// [Driver.Read] does. A key or value that cannot be decoded fails the test, but a
// null key that its serde refuses is NullKey.
func (out *Output[K, V]) Messages() []topology.Message[K, V] {
	out.d.t.Helper()
	var all []topology.Message[K, V]
	for _, rec := range out.d.Read(out.topic) {
		m := topology.Message[K, V]{Headers: rec.Headers, Timestamp: rec.Timestamp, Origin: rec.Origin}
		var err error
		m.Key, err = out.key.Decode(rec.Key)
		if rec.Key == nil && errors.Is(err, topology.ErrNull) {
			var zero K
			m.Key, m.NullKey, err = zero, true, nil
		}
		if err != nil {
			out.d.t.Fatalf("topologytest: %s[%d]@%d: key: %v", rec.Topic, rec.Partition, rec.Offset, err)
		}
		if m.Value, err = out.value.Decode(rec.Value); err != nil {
			out.d.t.Fatalf("topologytest: %s[%d]@%d: value: %v", rec.Topic, rec.Partition, rec.Offset, err)
		}
		all = append(all, m)
	}
	return all
}

// Values is the values of [Output.Messages].
func (out *Output[K, V]) Values() []V {
	out.d.t.Helper()
	var values []V
	for _, m := range out.Messages() {
		values = append(values, m.Value)
	}
	return values
}
