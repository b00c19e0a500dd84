package topology

import (
	"errors"
	"reflect"
)

// Name is an option of [Source] and [Stream.To] that names the operator, where
// it would otherwise be named after its topic.
type Name string

func (o Name) applySource(n *node) { n.name = string(o) }
func (o Name) applySink(n *node)   { n.name = string(o) }

// SourceOption is an option of [Source]: a [Name].
type SourceOption interface{ applySource(*node) }

// Source reads a topic. It is named after the topic unless a [Name] is given.
//
// A key that its serde refuses with [ErrNull] is a null key: functions see the
// zero K, and an output whose key no operator has set has a null key again.
// (With [Bytes] and [Nullable] null is a value of the type.) A null value that
// its serde refuses is a decode error like any other; read tombstones with
// [Bytes] or [Nullable].
//
// A second Source of the same topic with equal serdes is the same stream.
func Source[K, V any](b *Builder, topic string, keySerde Serde[K], valueSerde Serde[V], opts ...SourceOption) Stream[K, V] {
	if b == nil || b.built {
		return Stream[K, V]{}
	}
	n := &node{kind: kindSource, name: topic, topics: []string{topic}, keySerde: keySerde, valueSerde: valueSerde}
	for _, opt := range opts {
		if opt == nil {
			n.fault("one of its options is nil")
			continue
		}
		opt.applySource(n)
	}
	for _, old := range b.nodes {
		if old.kind != kindSource || old.topics[0] != topic || topic == "" {
			continue
		}
		out, same := old.outlet.(*outlet[K, V])
		if same && old.name == n.name && equal(old.keySerde, keySerde) && equal(old.valueSerde, valueSerde) {
			return Stream[K, V]{b: b, n: old, out: out}
		}
		n.fault("topic " + quote(topic) + " is read twice with different serdes or names: use the stream of the first Source")
	}
	b.put(n)
	return read(b, n, keySerde, valueSerde)
}

// read makes the stream of the records that enter the graph at n.
func read[K, V any](b *Builder, n *node, keySerde Serde[K], valueSerde Serde[V]) Stream[K, V] {
	n.need(keySerde != nil, nilKeySerde)
	n.need(valueSerde != nil, nilValueSerde)
	s := newStream[K, V](b, n)
	n.outlet = s.out
	n.enter = func(x *run, rec *Record) error {
		key, err := keySerde.Decode(rec.Key)
		if err != nil {
			if rec.Key != nil || !errors.Is(err, ErrNull) {
				return x.fail(keyError{err})
			}
			var zero K
			key, x.nullKey = zero, true
		}
		value, err := valueSerde.Decode(rec.Value)
		if err != nil {
			return x.fail(valueError{err})
		}
		return s.push(x, key, value)
	}
	return s
}

// equal compares two serdes or effects where they can be compared.
func equal(a, b any) bool {
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	return va.IsValid() && vb.IsValid() && va.Type() == vb.Type() && va.Comparable() && vb.Comparable() && a == b
}

// keyError and valueError say which half of a record a serde refused.
type (
	keyError   struct{ err error }
	valueError struct{ err error }
)

func (e keyError) Error() string   { return "key: " + e.err.Error() }
func (e keyError) Unwrap() error   { return e.err }
func (e valueError) Error() string { return "value: " + e.err.Error() }
func (e valueError) Unwrap() error { return e.err }
