package topologytest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/topology"
	"github.com/weirstream/weir/topology/topologytest"
)

var str = topology.String

// built finishes a topology around one source of text.
func built(t testing.TB, build func(b *topology.Builder, in topology.Stream[string, string])) *topology.Topology {
	t.Helper()
	b := topology.New()
	build(b, topology.Source(b, "in", str, str))
	top, err := b.Build()
	require.NoError(t, err)
	return top
}

func copied(t testing.TB) *topology.Topology {
	t.Helper()
	return built(t, func(_ *topology.Builder, in topology.Stream[string, string]) { in.To("out", str, str) })
}

func TestClockOffsetsAndPartitions(t *testing.T) {
	t.Parallel()
	start := time.Date(2021, 2, 3, 4, 5, 6, 0, time.UTC)
	d := topologytest.New(t, copied(t), topologytest.WithStart(start), topologytest.WithPartitions("in", 3))
	require.Equal(t, start, d.Now())
	d.Advance(time.Minute)
	for _, partition := range []int32{2, 0, 2} {
		d.Pipe(topology.Record{Origin: topology.Origin{Topic: "in", Partition: partition, Offset: 99}, Value: []byte("v")})
	}
	got := d.Read("out")
	require.Len(t, got, 3)
	for i, r := range got {
		require.Equal(t, int64(i), r.Offset)
		require.Equal(t, int32(0), r.Partition)
		require.Equal(t, start.Add(time.Minute), r.Timestamp)
	}
	require.Empty(t, d.Read("out"), "read before")
}

func TestOffsetsCountPerPartition(t *testing.T) {
	t.Parallel()
	var seen []string
	top := built(t, func(_ *topology.Builder, in topology.Stream[string, string]) {
		in.Peek("see", func(m topology.Message[string, string]) {
			seen = append(seen, fmt.Sprintf("%d@%d", m.Origin.Partition, m.Origin.Offset))
		})
	})
	d := topologytest.New(t, top, topologytest.WithPartitions("in", 2))
	for _, partition := range []int32{0, 1, 1, 0} {
		d.Pipe(topology.Record{Origin: topology.Origin{Topic: "in", Partition: partition}, Value: []byte("v")})
	}
	require.Equal(t, []string{"0@0", "1@0", "1@1", "0@1"}, seen)
}

func TestRepartitionIsFedBack(t *testing.T) {
	t.Parallel()
	var seen []topology.Origin
	top := built(t, func(_ *topology.Builder, in topology.Stream[string, string]) {
		far := topology.SelectKey(in, "first", func(_, v string) (string, error) { return v[:1], nil }).
			Repartition("by-letter", str, str, topology.WithPartitions(16))
		far.Peek("see", func(m topology.Message[string, string]) { seen = append(seen, m.Origin) }).To("out", str, str)
	})
	d := topologytest.New(t, top, topologytest.WithApplicationID("app"))
	in := topologytest.NewInput(d, "in", str, str)
	for _, v := range []string{"apple", "bread", "avocado"} {
		in.Pipe("k", v)
	}
	require.Equal(t, "app-by-letter-repartition", seen[0].Topic)
	require.Equal(t, seen[0].Partition, seen[2].Partition, "equal keys meet")
	require.NotEqual(t, seen[0].Partition, seen[1].Partition, "a and b differ in 16 partitions")
	require.Equal(t, int64(1), seen[2].Offset)
	require.Len(t, d.Read("app-by-letter-repartition"), 3)
	require.Equal(t, []string{"apple", "bread", "avocado"}, topologytest.NewOutput(d, "out", str, str).Values())
}

// A record that fails leaves nothing, its offset counts, and what it caused in
// another sub-topology fails apart from it.
func TestErrorsSurface(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	top := built(t, func(_ *topology.Builder, in topology.Stream[string, string]) {
		in.To("out", str, str)
		topology.MapValues(in, "near", func(v string) (string, error) {
			if v == "near" {
				return "", boom
			}
			return v, nil
		}).To("near", str, str)
		topology.MapValues(in.Repartition("r", str, str), "far", func(v string) (string, error) {
			if v == "far" {
				return "", boom
			}
			return v, nil
		}).To("far", str, str)
	})
	d := topologytest.New(t, top)
	in := topologytest.NewInput(d, "in", str, str)
	require.EqualError(t, in.TryPipe("k", "near"), `in[0]@0: process in "near": boom`)
	require.EqualError(t, in.TryPipe("k", "far"), `test-r-repartition[0]@0: process in "far": boom`)
	require.NoError(t, in.TryPipe("k", "fine"))
	out := topologytest.NewOutput(d, "out", str, str)
	require.Equal(t, []string{"far", "fine"}, out.Values())
	require.Equal(t, []string{"fine"}, topologytest.NewOutput(d, "far", str, str).Values())
	require.ErrorIs(t, in.TryPipe("k", "near"), boom)
}

func TestTypedMessages(t *testing.T) {
	t.Parallel()
	d := topologytest.New(t, copied(t))
	in := topologytest.NewInput(d, "in", str, str)
	at := time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)
	headers := []topology.Header{{Key: "h", Value: []byte("1")}}
	in.PipeMessage(topology.Message[string, string]{NullKey: true, Value: "v", Headers: headers, Timestamp: at})
	got := topologytest.NewOutput(d, "out", str, str).Messages()
	require.Equal(t, []topology.Message[string, string]{{
		NullKey: true, Value: "v", Headers: headers, Timestamp: at, Origin: topology.Origin{Topic: "out"},
	}}, got)
}

// fatal is a testing.TB that keeps what made it fail.
type fatal struct {
	testing.TB
	text string
}

func (f *fatal) Helper() {}

func (f *fatal) Fatalf(format string, args ...any) {
	f.text = fmt.Sprintf(format, args...)
	panic(f) // ends the call, as Fatalf does
}

func TestFaultsFailTheTest(t *testing.T) {
	t.Parallel()
	in := topology.Origin{Topic: "in"}
	round := func(t testing.TB) *topology.Topology {
		t.Helper()
		return built(t, func(b *topology.Builder, in topology.Stream[string, string]) {
			in.To("a", str, str)
			topology.Source(b, "a", str, str).To("b", str, str)
			topology.Source(b, "b", str, str).To("a", str, str, topology.Name("back"))
		})
	}
	for name, tc := range map[string]struct {
		top  func(testing.TB) *topology.Topology
		opts []topologytest.Option
		do   func(d *topologytest.Driver)
		want string
	}{
		"nil topology":       {func(testing.TB) *topology.Topology { return nil }, nil, nil, "topologytest: the topology is nil: check the error of Build"},
		"bad partitions":     {copied, []topologytest.Option{topologytest.WithPartitions("in", 0)}, nil, "topologytest: topic in: 0 partitions: want at least 1"},
		"bad application id": {copied, []topologytest.Option{topologytest.WithApplicationID("..")}, nil, `topologytest: topology: application id ".." is reserved`},
		"unknown source": {copied, nil, func(d *topologytest.Driver) {
			d.Pipe(topology.Record{Origin: topology.Origin{Topic: "inn"}})
		}, `topologytest: topic "inn" is not read: the topology reads in`},
		"unknown sink": {copied, nil, func(d *topologytest.Driver) { d.Read("outt") }, `topologytest: topic "outt" is not written: the topology writes out`},
		"unknown partition": {copied, nil, func(d *topologytest.Driver) {
			d.Pipe(topology.Record{Origin: topology.Origin{Topic: "in", Partition: 1}})
		}, `topologytest: topic in has no partition 1: it has 1; see WithPartitions`},
		"record fails": {copied, nil, func(d *topologytest.Driver) { d.Pipe(topology.Record{Origin: in}) }, `topologytest: in[0]@0: decode in "in": value: null where a value is required`},
		"typed record fails": {copied, nil, func(d *topologytest.Driver) {
			topologytest.NewInput(d, "in", topology.Bytes, topology.Bytes).Pipe(nil, nil)
		}, `topologytest: in[0]@0: decode in "in": value: null where a value is required`},
		"not encodable": {copied, nil, func(d *topologytest.Driver) {
			topologytest.NewInput(d, "in", str, topology.JSON[chan int]()).Pipe("", nil)
		}, `topologytest: topic in: value <nil>: json: unsupported type: chan int`},
		"not decodable": {copied, nil, func(d *topologytest.Driver) {
			d.Pipe(topology.Record{Origin: in, Value: []byte("v")})
			topologytest.NewOutput(d, "out", str, topology.Int64).Values()
		}, `topologytest: out[0]@0: value: int64: 1 bytes, want 8`},
		"topics in a loop": {round, nil, func(d *topologytest.Driver) {
			d.Pipe(topology.Record{Origin: in, Value: []byte("v")})
		}, `topologytest: in[0]@0 caused 100000 records and more: topics feed each other in a loop`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fatal{TB: t}
			require.PanicsWithValue(t, f, func() {
				d := topologytest.New(f, tc.top(t), tc.opts...)
				tc.do(d)
			})
			require.Equal(t, tc.want, strings.TrimSpace(f.text))
		})
	}
}
