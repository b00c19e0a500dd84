package topology

import (
	"fmt"
	"slices"
	"strings"
)

// SinkOption is an option of [Stream.To]: a [Name].
type SinkOption interface{ applySink(*node) }

// To writes every record of s to topic, in order. It is named after the topic
// unless a [Name] is given; two sinks need two names.
func (s Stream[K, V]) To(topic string, keySerde Serde[K], valueSerde Serde[V], opts ...SinkOption) {
	n := s.add(kindSink, topic)
	n.topics = []string{topic}
	n.need(keySerde != nil, nilKeySerde)
	n.need(valueSerde != nil, nilValueSerde)
	for _, opt := range opts {
		if opt == nil {
			n.fault("one of its options is nil")
			continue
		}
		opt.applySink(n)
	}
	s.each(func(x *run, k K, v V) error {
		return write(x, n, topic, k, v, keySerde, valueSerde)
	})
}

// ToFunc writes each record of s to the one of topics that choose names. All
// topics that choose may ever name are listed, so that they can be checked before
// the first record; any other answer is an error of phase produce.
func (s Stream[K, V]) ToFunc(name string, topics []string, choose func(Message[K, V]) string, keySerde Serde[K], valueSerde Serde[V]) {
	n := s.add(kindDynamicSink, name)
	n.topics = slices.Clone(topics)
	n.need(choose != nil, nilFunction)
	n.need(keySerde != nil, nilKeySerde)
	n.need(valueSerde != nil, nilValueSerde)
	n.need(len(topics) > 0, "lists no topic that its function may choose")
	s.each(func(x *run, k K, v V) error {
		x.user(n)
		topic := choose(messageOf(x, k, v))
		if !slices.Contains(n.topics, topic) {
			x.phase = PhaseProduce
			return x.fail(fmt.Errorf("topic %q was chosen, but the sink declares only %s", topic, strings.Join(n.topics, ", ")))
		}
		return write(x, n, topic, k, v, keySerde, valueSerde)
	})
}

// RepartitionOption is an option of [Stream.Repartition]: [WithPartitions].
type RepartitionOption interface{ applyRepartition(*node) }

type partitions int

func (o partitions) applyRepartition(n *node) {
	n.partitions = int(o)
	n.need(o >= 1, fmt.Sprintf("has %d partitions: want at least 1", int(o)))
}

// WithPartitions sets the number of partitions of a repartition topic; n must be
// at least 1. The default is the largest number of partitions among the topics
// that feed it.
func WithPartitions(n int) RepartitionOption { return partitions(n) }

// Repartition sends s through the internal topic
// <application.id>-<name>-repartition, so that records of equal keys meet in one
// partition. What follows is a sub-topology of its own and a transaction of its
// own; origin and offset are then those of the internal topic.
func (s Stream[K, V]) Repartition(name string, keySerde Serde[K], valueSerde Serde[V], opts ...RepartitionOption) Stream[K, V] {
	n := s.add(kindRepartition, name)
	for _, opt := range opts {
		if opt == nil {
			n.fault("one of its options is nil")
			continue
		}
		opt.applyRepartition(n)
	}
	s.each(func(x *run, k K, v V) error {
		return write(x, n, x.names[n.index], k, v, keySerde, valueSerde)
	})
	back := s.b.add(kindRepartitionSource, name)
	n.pair, back.pair = back, n
	return read(s.b, back, keySerde, valueSerde)
}

// write encodes a record and emits it.
func write[K, V any](x *run, n *node, topic string, k K, v V, keySerde Serde[K], valueSerde Serde[V]) error {
	x.at, x.phase = n, PhaseProduce
	var key []byte
	if !x.nullKey {
		var err error
		if key, err = encode(&x.bytes, keySerde, k); err != nil {
			return x.fail(keyError{err})
		}
	}
	value, err := encode(&x.bytes, valueSerde, v)
	if err != nil {
		return x.fail(valueError{err})
	}
	x.out = Output{Topic: topic, Key: key, Value: value, Headers: x.headers, Timestamp: x.timestamp, Sink: n.name}
	x.send()
	return nil
}
