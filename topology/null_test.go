package topology_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/topology"
	"github.com/weirstream/weir/topology/topologytest"
)

var (
	someBytes = map[string][]byte{"null": nil, "empty": {}, "full": []byte("x")}
	headerSet = map[string][]topology.Header{
		"none":      nil,
		"duplicate": {{Key: "h", Value: []byte("1")}, {Key: "h", Value: []byte("2")}},
		"null":      {{Key: "h", Value: nil}, {Key: "e", Value: []byte{}}, {Key: "", Value: []byte("x")}},
	}
)

// Null, empty and full keys, values and headers come out as they went in, through
// every kind of operator that does not set them, and through a repartition topic.
// Source of the matrix: tombstones that become "" in other systems
// (segmentio/kafka-go issue 659).
func TestNullAndEmptyRoundTrip(t *testing.T) {
	t.Parallel()
	for key, keyBytes := range someBytes {
		for value, valueBytes := range someBytes {
			for header, headers := range headerSet {
				t.Run(fmt.Sprintf("key %s, value %s, headers %s", key, value, header), func(t *testing.T) {
					t.Parallel()
					rec := topology.Record{
						Origin: topology.Origin{Topic: "in"}, Key: keyBytes, Value: valueBytes,
						Headers: headers, Timestamp: time.UnixMilli(1234567890123),
					}
					roundTrip(t, rec, topology.Bytes, topology.Bytes)
					roundTrip(t, rec, topology.Nullable(topology.String), topology.Nullable(topology.String))
					roundTrip(t, rec, topology.String, topology.Bytes)
					if valueBytes != nil {
						roundTrip(t, rec, topology.String, topology.String)
					}
				})
			}
		}
	}
}

func roundTrip[K, V any](t *testing.T, rec topology.Record, key topology.Serde[K], value topology.Serde[V]) {
	t.Helper()
	b := topology.New()
	s := topology.Source(b, "in", key, value)
	s = s.Filter("filter", func(K, V) bool { return true }).Peek("peek", func(topology.Message[K, V]) {})
	s = topology.MapValues(s, "values", func(v V) (V, error) { return v, nil })
	s = topology.FlatMapValues(s, "flat", func(v V) ([]V, error) { return []V{v}, nil })
	s = topology.MapMessage(s, "message", func(m topology.Message[K, V]) (topology.Message[K, V], error) { return m, nil })
	br := s.Branch("branch")
	s = br.Case("never", func(K, V) bool { return false }).Merge("merge", br.Default("rest"))
	s.To("out", key, value)
	s.Repartition("r", key, value).To("far", key, value)
	top, err := b.Build()
	require.NoError(t, err)

	d := topologytest.New(t, top)
	d.Pipe(rec)
	for _, topic := range []string{"out", "far"} {
		got := d.Read(topic)
		require.Len(t, got, 1)
		rec.Topic = topic
		require.Equal(t, rec, got[0]) // ObjectsAreEqual tells nil from empty
	}
}

// A null key under a serde without null is the zero key to a function, and stays
// null until an operator makes a key.
func TestNullKeyUnderString(t *testing.T) {
	t.Parallel()
	str := topology.String
	b := topology.New()
	s := topology.Source(b, "in", str, str)
	pair := func(k, v string) (string, string, error) { return k, v, nil }
	s.To("kept", str, str)
	topology.Map(s, "map", pair).To("mapped", str, str)
	topology.SelectKey(s, "select", func(k, _ string) (string, error) { return k, nil }).To("selected", str, str)
	topology.FlatMap(s, "flat", func(k, v string) ([]topology.KeyValue[string, string], error) {
		return []topology.KeyValue[string, string]{{Key: k, Value: v}}, nil
	}).To("flat", str, str)
	s.To("kept-again", str, str)
	top, err := b.Build()
	require.NoError(t, err)
	d := topologytest.New(t, top)
	d.Pipe(topology.Record{Origin: topology.Origin{Topic: "in"}, Value: []byte("v")})
	for topic, want := range map[string][]byte{"kept": nil, "mapped": {}, "selected": {}, "flat": {}, "kept-again": nil} {
		require.Equal(t, want, d.Read(topic)[0].Key, topic)
	}
}
