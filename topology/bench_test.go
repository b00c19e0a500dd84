package topology_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/topology"
)

var (
	benchKey   = []byte("customer-000017")
	benchValue = bytes.Repeat([]byte("v"), 100)
)

// bench runs one record through the topology b.N times.
func bench(b *testing.B, build func(*topology.Builder), key, value []byte) {
	b.Helper()
	builder := topology.New()
	build(builder)
	r := runner(b, builder)
	rec := &topology.Record{Origin: topology.Origin{Topic: "in"}, Key: key, Value: value, Timestamp: time.UnixMilli(1)}
	outputs := 0
	emit := func(*topology.Output) { outputs++ }
	b.ReportAllocs()
	for b.Loop() {
		rec.Offset++
		if err := r.Process(rec, emit); err != nil {
			b.Fatal(err)
		}
	}
	require.NotZero(b, outputs)
}

// BenchmarkCopy is the topology that does nothing: bytes in, bytes out.
func BenchmarkCopy(b *testing.B) {
	bench(b, func(b *topology.Builder) {
		topology.Source(b, "in", topology.Bytes, topology.Bytes).To("out", topology.Bytes, topology.Bytes)
	}, benchKey, benchValue)
}

func BenchmarkFiveOperatorsString(b *testing.B) {
	bench(b, func(b *topology.Builder) {
		fiveOperators(topology.Source(b, "in", topology.String, topology.String),
			func(v string) (string, error) { return v[1:], nil }).To("out", topology.String, topology.String)
	}, benchKey, benchValue)
}

func BenchmarkFiveOperatorsInt64(b *testing.B) {
	bench(b, func(b *topology.Builder) {
		fiveOperators(topology.Source(b, "in", topology.String, topology.Int64),
			func(v int64) (int64, error) { return v + 1, nil }).To("out", topology.String, topology.Int64)
	}, benchKey, make([]byte, 8))
}

func BenchmarkMapMessage(b *testing.B) {
	bench(b, func(b *topology.Builder) {
		type message = topology.Message[[]byte, []byte]
		s := topology.Source(b, "in", topology.Bytes, topology.Bytes)
		topology.MapMessage(s, "m", func(m message) (message, error) { return m, nil }).To("out", topology.Bytes, topology.Bytes)
	}, benchKey, benchValue)
}

// fiveOperators is a filter, a map of values, a key change, a map and a filter.
func fiveOperators[V any](s topology.Stream[string, V], change func(V) (V, error)) topology.Stream[string, V] {
	s = s.Filter("first", func(string, V) bool { return true })
	s = topology.MapValues(s, "change", change)
	s = topology.SelectKey(s, "key", func(k string, _ V) (string, error) { return k[1:], nil })
	s = topology.Map(s, "map", func(k string, v V) (string, V, error) { return k, v, nil })
	return s.Filter("last", func(string, V) bool { return true })
}

// What a record costs in allocations is part of the speed that is promised: two
// strings decoded, and less than one block of the arena for what is encoded.
func TestAllocationsPerRecord(t *testing.T) {
	builder := topology.New()
	fiveOperators(topology.Source(builder, "in", topology.String, topology.String),
		func(v string) (string, error) { return v[1:], nil }).To("out", topology.String, topology.String)
	r := runner(t, builder)
	rec := &topology.Record{Origin: topology.Origin{Topic: "in"}, Key: benchKey, Value: benchValue}
	emit := func(*topology.Output) {}
	perRecord := testing.AllocsPerRun(1000, func() {
		require.NoError(t, r.Process(rec, emit))
	})
	require.LessOrEqual(t, perRecord, 2.0)
}
