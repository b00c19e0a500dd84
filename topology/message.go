package topology

import (
	"errors"
	"reflect"
	"time"
)

// Message is a record with everything that is known of it, for the operators
// that need more than key and value: [MapMessage], [FlatMapMessage],
// [Stream.Peek] and [Stream.ToFunc].
//
// Outputs carry the Headers and Timestamp of their input onward, as in Kafka
// Streams, unless a MapMessage or FlatMapMessage changes them. Headers is shared
// with the input and other messages: replace the slice ([Message.WithHeader]),
// do not change it in place.
type Message[K, V any] struct {
	Key   K
	Value V
	// NullKey says that the key is null and its serde has no value for null:
	// Key is the zero K, and an output gets a null key. [WithKey] clears it.
	NullKey bool
	Headers []Header
	// Timestamp is that of the output if an operator returns it; zero keeps the
	// timestamp of the input, so that a repeated run makes the same output.
	Timestamp time.Time
	// Origin is the input record that is being processed. Changes to it have
	// no effect. Behind a repartition it is the record of that topic.
	Origin Origin
}

// WithValue returns m with another value.
func WithValue[K, V, V2 any](m Message[K, V], value V2) Message[K, V2] {
	return Message[K, V2]{m.Key, value, m.NullKey, m.Headers, m.Timestamp, m.Origin}
}

// WithKey returns m with another key, which is not null.
func WithKey[K, V, K2 any](m Message[K, V], key K2) Message[K2, V] {
	return Message[K2, V]{key, m.Value, false, m.Headers, m.Timestamp, m.Origin}
}

// WithHeader returns m with one header more. Headers of the same key are kept.
func (m Message[K, V]) WithHeader(key string, value []byte) Message[K, V] {
	m.Headers = append(m.Headers[:len(m.Headers):len(m.Headers)], Header{key, value})
	return m
}

// Header returns the value of the last header called key, and whether there is
// one. A null header value is nil and true.
func (m Message[K, V]) Header(key string) ([]byte, bool) {
	for i := len(m.Headers) - 1; i >= 0; i-- {
		if m.Headers[i].Key == key {
			return m.Headers[i].Value, true
		}
	}
	return nil, false
}

func messageOf[K, V any](x *run, k K, v V) Message[K, V] {
	return Message[K, V]{k, v, x.nullKey, x.headers, x.timestamp, x.record.Origin}
}

var errNullKeySet = errors.New("the message has NullKey set and a Key that is not zero: set the key with WithKey, which clears NullKey")

// pushMessage hands on a message that a function of n made.
func pushMessage[K, V any](x *run, n *node, out *outlet[K, V], m Message[K, V]) error {
	if m.NullKey && !reflect.ValueOf(&m.Key).Elem().IsZero() {
		x.user(n)
		return x.fail(errNullKeySet)
	}
	if m.Timestamp.IsZero() {
		m.Timestamp = x.timestamp
	}
	headers, timestamp, nullKey := x.headers, x.timestamp, x.nullKey
	x.headers, x.timestamp, x.nullKey = m.Headers, m.Timestamp, m.NullKey
	err := out.push(x, m.Key, m.Value)
	x.headers, x.timestamp, x.nullKey = headers, timestamp, nullKey
	return err
}

// MapMessage makes one message out of each, with the right to read and set
// headers and timestamp and to read the origin.
func MapMessage[K, V, K2, V2 any](s Stream[K, V], name string, fn func(Message[K, V]) (Message[K2, V2], error)) Stream[K2, V2] {
	out, n := derive[K2, V2](s, kindMapMessage, name)
	n.need(fn != nil, nilFunction)
	s.each(func(x *run, k K, v V) error {
		x.user(n)
		m, err := fn(messageOf(x, k, v))
		if err != nil {
			return x.fail(err)
		}
		return pushMessage(x, n, out.out, m)
	})
	return out
}

// FlatMapMessage makes any number of messages out of each, in the order of the
// slice returned. Otherwise it is [MapMessage].
func FlatMapMessage[K, V, K2, V2 any](s Stream[K, V], name string, fn func(Message[K, V]) ([]Message[K2, V2], error)) Stream[K2, V2] {
	out, n := derive[K2, V2](s, kindFlatMapMessage, name)
	n.need(fn != nil, nilFunction)
	s.each(func(x *run, k K, v V) error {
		x.user(n)
		messages, err := fn(messageOf(x, k, v))
		if err != nil {
			return x.fail(err)
		}
		for _, m := range messages {
			if err := pushMessage(x, n, out.out, m); err != nil {
				return err
			}
		}
		return nil
	})
	return out
}
