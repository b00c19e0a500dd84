package topology_test

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

// drive builds a topology around one source of text, "in", and returns a Driver.
func drive(t *testing.T, build func(s stream)) (*topologytest.Driver, *topologytest.Input[string, string]) {
	t.Helper()
	b := topology.New()
	build(topology.Source(b, "in", topology.String, topology.String))
	top, err := b.Build()
	require.NoError(t, err)
	d := topologytest.New(t, top)
	return d, topologytest.NewInput(d, "in", topology.String, topology.String)
}

// read returns "key=value" for each record of topic.
func read(d *topologytest.Driver, topic string) []string {
	var all []string
	for _, r := range d.Read(topic) {
		all = append(all, string(r.Key)+"="+string(r.Value))
	}
	return all
}

func TestOperators(t *testing.T) {
	t.Parallel()
	str := topology.String
	out := func(s stream) { s.To("out", str, str) }
	for name, tc := range map[string]struct {
		build func(s stream)
		want  []string // for a=one two, b=, a=three
	}{
		"straight through": {out, []string{"a=one two", "b=", "a=three"}},
		"map": {func(s stream) {
			out(topology.Map(s, "m", func(k, v string) (string, string, error) { return v, k, nil }))
		}, []string{"one two=a", "=b", "three=a"}},
		"map values": {func(s stream) { out(topology.MapValues(s, "m", upper)) }, []string{"a=ONE TWO", "b=", "a=THREE"}},
		"flat map": {func(s stream) {
			out(topology.FlatMap(s, "m", func(k, v string) ([]topology.KeyValue[string, string], error) {
				var all []topology.KeyValue[string, string]
				for _, w := range strings.Fields(v) {
					all = append(all, topology.KeyValue[string, string]{Key: w, Value: k})
				}
				return all, nil
			}))
		}, []string{"one=a", "two=a", "three=a"}},
		"flat map values": {func(s stream) {
			out(topology.FlatMapValues(s, "m", func(v string) ([]string, error) { return strings.Fields(v), nil }))
		}, []string{"a=one", "a=two", "a=three"}},
		"select key": {func(s stream) {
			out(topology.SelectKey(s, "m", func(k, v string) (string, error) { return k + v, nil }))
		}, []string{"aone two=one two", "b=", "athree=three"}},
		"filter": {func(s stream) { out(s.Filter("f", func(k, _ string) bool { return k == "a" })) }, []string{"a=one two", "a=three"}},
		"merge": {func(s stream) {
			x := topology.MapValues(s, "x", upper)
			out(s.Merge("m", x))
		}, []string{"a=ONE TWO", "a=one two", "b=", "b=", "a=THREE", "a=three"}},
		"two types on the way": {func(s stream) {
			size := topology.MapValues(s, "len", func(v string) (int64, error) { return int64(len(v)), nil })
			big := size.Filter("big", func(_ string, n int64) bool { return n > 0 })
			out(topology.MapValues(big, "text", func(n int64) (string, error) { return fmt.Sprint(n), nil }))
		}, []string{"a=7", "a=5"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, in := drive(t, tc.build)
			in.Pipe("a", "one two")
			in.Pipe("b", "")
			in.Pipe("a", "three")
			require.Equal(t, tc.want, read(d, "out"))
		})
	}
}

func TestSameTopicTwiceIsTheSameStream(t *testing.T) {
	t.Parallel()
	b := topology.New()
	json := topology.JSON[map[string]int]
	one := topology.Source(b, "in", topology.Nullable(topology.Int32), json())
	two := topology.Source(b, "in", topology.Nullable(topology.Int32), json())
	require.Equal(t, one, two)
	one.Merge("m", two.Filter("f", func(*int32, map[string]int) bool { return true })).To("out", topology.Nullable(topology.Int32), json())
	top, err := b.Build()
	require.NoError(t, err)
	d := topologytest.New(t, top)
	d.Pipe(topology.Record{Origin: topology.Origin{Topic: "in"}, Value: []byte("{\"a\":1}")})
	require.Equal(t, []string{`={"a":1}`, `={"a":1}`}, read(d, "out"))
}

func TestBranchFirstMatchWins(t *testing.T) {
	t.Parallel()
	long := func(_, v string) bool { return len(v) > 3 }
	startsA := func(_, v string) bool { return strings.HasPrefix(v, "a") }
	for _, rest := range []bool{true, false} {
		d, in := drive(t, func(s stream) {
			br := s.Branch("route")
			br.Case("long", long).To("long", topology.String, topology.String)
			br.Case("a", startsA).To("a", topology.String, topology.String)
			if rest {
				br.Default("rest").To("rest", topology.String, topology.String)
			} else {
				br.DropRest()
			}
		})
		for _, v := range []string{"abcd", "ab", "xyz", "wxyz"} {
			in.Pipe("k", v)
		}
		require.Equal(t, []string{"k=abcd", "k=wxyz"}, read(d, "long"))
		require.Equal(t, []string{"k=ab"}, read(d, "a"))
		if rest {
			require.Equal(t, []string{"k=xyz"}, read(d, "rest"))
		}
	}
}

func TestToFunc(t *testing.T) {
	t.Parallel()
	d, in := drive(t, func(s stream) {
		s.ToFunc("pick", []string{"x", "y"}, func(m topology.Message[string, string]) string { return m.Key }, topology.String, topology.String)
	})
	in.Pipe("x", "1")
	in.Pipe("y", "2")
	err := in.TryPipe("z", "3")
	require.EqualError(t, err, `in[0]@2: produce in "pick": topic "z" was chosen, but the sink declares only x, y`)
	require.Equal(t, []string{"x=1"}, read(d, "x"))
	require.Equal(t, []string{"y=2"}, read(d, "y"))
}

// Two sinks may write one topic under two names.
func TestTwoSinksOfOneTopic(t *testing.T) {
	t.Parallel()
	d, in := drive(t, func(s stream) {
		s.To("out", topology.String, topology.String)
		topology.MapValues(s, "upper", upper).To("out", topology.String, topology.String, topology.Name("out-upper"))
	})
	in.Pipe("k", "v")
	require.Equal(t, []string{"k=v", "k=V"}, read(d, "out"))
}

// Each of two operators behind one stream gets what the stream carries, whatever
// the other did to headers, timestamp and key.
func TestFanOutIsIndependent(t *testing.T) {
	t.Parallel()
	at := time.Date(2020, 5, 1, 0, 0, 0, 0, time.UTC)
	d, in := drive(t, func(s stream) {
		topology.MapMessage(s, "change", func(m topology.Message[string, string]) (topology.Message[string, string], error) {
			m = topology.WithKey(m.WithHeader("h", []byte("2")), "new")
			m.Timestamp = m.Timestamp.Add(time.Hour)
			return m, nil
		}).To("changed", topology.String, topology.String)
		s.To("plain", topology.String, topology.String)
	})
	headers := make([]topology.Header, 1, 4) // room that an append in place would use
	headers[0] = topology.Header{Key: "h", Value: []byte("1")}
	in.PipeMessage(topology.Message[string, string]{NullKey: true, Value: "v", Headers: headers, Timestamp: at})

	plain, changed := d.Read("plain")[0], d.Read("changed")[0]
	require.Nil(t, plain.Key)
	require.Equal(t, headers, plain.Headers)
	require.Equal(t, at, plain.Timestamp)
	require.Equal(t, "new", string(changed.Key))
	require.Equal(t, []topology.Header{{Key: "h", Value: []byte("1")}, {Key: "h", Value: []byte("2")}}, changed.Headers)
	require.Equal(t, at.Add(time.Hour), changed.Timestamp)
	require.Equal(t, topology.Header{}, headers[:2][1])
}

func TestMessageCarriesOrigin(t *testing.T) {
	t.Parallel()
	var seen []topology.Origin
	d, in := drive(t, func(s stream) {
		s.Peek("see", func(m topology.Message[string, string]) { seen = append(seen, m.Origin) })
		topology.FlatMapMessage(s, "twice", func(m topology.Message[string, string]) ([]topology.Message[string, int64], error) {
			value, _ := m.Header("n")
			return []topology.Message[string, int64]{
				topology.WithValue(m, m.Origin.Offset),
				topology.WithValue(m.WithHeader("n", nil), int64(len(value))),
			}, nil
		}).To("out", topology.String, topology.Int64)
	})
	in.Pipe("k", "v")
	in.PipeMessage(topology.Message[string, string]{Key: "k", Headers: []topology.Header{{Key: "n", Value: []byte("abc")}}})
	require.Equal(t, []topology.Origin{{Topic: "in", Offset: 0}, {Topic: "in", Offset: 1}}, seen)

	got := topologytest.NewOutput(d, "out", topology.String, topology.Int64).Messages()
	require.Len(t, got, 4)
	require.Equal(t, []int64{0, 0, 1, 3}, []int64{got[0].Value, got[1].Value, got[2].Value, got[3].Value})
	value, ok := got[3].Header("n")
	require.True(t, ok)
	require.Nil(t, value, "the last header of a name counts")
	_, ok = got[0].Header("n")
	require.False(t, ok)
}

// A message made from nothing has the headers that were given to it, none, and the
// timestamp of the input rather than the time at which it happened to be written.
func TestFreshMessageKeepsTimestamp(t *testing.T) {
	t.Parallel()
	at := time.Date(2020, 5, 1, 0, 0, 0, 0, time.UTC)
	d, in := drive(t, func(s stream) {
		topology.MapMessage(s, "m", func(topology.Message[string, string]) (topology.Message[string, string], error) {
			return topology.Message[string, string]{Key: "k", Value: "fresh"}, nil
		}).To("out", topology.String, topology.String)
	})
	in.PipeMessage(topology.Message[string, string]{Timestamp: at, Headers: []topology.Header{{Key: "h"}}})
	got := d.Read("out")[0]
	require.Equal(t, at, got.Timestamp)
	require.Empty(t, got.Headers)
}

// A changed Key beside NullKey would be lost without a word.
func TestNullKeyBesideKeyIsRefused(t *testing.T) {
	t.Parallel()
	_, in := drive(t, func(s stream) {
		topology.MapMessage(s, "m", func(m topology.Message[string, string]) (topology.Message[string, string], error) {
			m.Key = "lost"
			return m, nil
		}).To("out", topology.String, topology.String)
	})
	err := in.TryPipeMessage(topology.Message[string, string]{NullKey: true})
	require.EqualError(t, err, `in[0]@0: process in "m": the message has NullKey set and a Key that is not zero: set the key with WithKey, which clears NullKey`)
}

func TestErrorsNameOperatorAndPhase(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	str := topology.String
	fails := map[string]func(s stream){
		"map": func(s stream) {
			pass(topology.Map(s, "op", func(string, string) (string, string, error) { return "", "", boom }), "p")
		},
		"map values": func(s stream) {
			pass(topology.MapValues(s, "op", func(string) (string, error) { return "", boom }), "p")
		},
		"flat map": func(s stream) {
			pass(topology.FlatMap(s, "op", func(string, string) ([]topology.KeyValue[string, string], error) { return nil, boom }), "p")
		},
		"flat map values": func(s stream) {
			pass(topology.FlatMapValues(s, "op", func(string) ([]string, error) { return nil, boom }), "p")
		},
		"select key": func(s stream) {
			pass(topology.SelectKey(s, "op", func(string, string) (string, error) { return "", boom }), "p")
		},
		"map message": func(s stream) {
			pass(topology.MapMessage(s, "op", func(topology.Message[string, string]) (m topology.Message[string, string], err error) { return m, boom }), "p")
		},
		"flat map message": func(s stream) {
			pass(topology.FlatMapMessage(s, "op", func(topology.Message[string, string]) ([]topology.Message[string, string], error) { return nil, boom }), "p")
		},
	}
	for name, build := range fails {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, in := drive(t, func(s stream) {
				s.To("before", str, str)
				build(s)
			})
			err := in.TryPipe("k", "v")
			require.EqualError(t, err, `in[0]@0: process in "op": boom`)
			require.ErrorIs(t, err, boom)
			var failed *topology.RecordError
			require.ErrorAs(t, err, &failed)
			require.Equal(t, topology.PhaseProcess, failed.Phase)
			require.Equal(t, "op", failed.Operator)
			require.Empty(t, d.Read("before"), "a record that fails leaves nothing")
		})
	}
}

func TestUndecodableAndUnencodable(t *testing.T) {
	t.Parallel()
	b := topology.New()
	nums := topology.Source(b, "nums", topology.Int64, topology.Int64)
	bad := topology.MapValues(nums, "fn", func(int64) (func(), error) { return nil, nil })
	bad.To("out", topology.Int64, topology.JSON[func()]())
	top, err := b.Build()
	require.NoError(t, err)
	d := topologytest.New(t, top)
	eight := make([]byte, 8)
	for _, tc := range []struct {
		key, value []byte
		want       string
	}{
		{[]byte("k"), eight, `nums[0]@0: decode in "nums": key: int64: 1 bytes, want 8`},
		{[]byte{}, eight, `nums[0]@1: decode in "nums": key: int64: 0 bytes, want 8`},
		{eight, []byte{}, `nums[0]@2: decode in "nums": value: int64: 0 bytes, want 8`},
		{eight, nil, `nums[0]@3: decode in "nums": value: null where a value is required`},
		{nil, eight, `nums[0]@4: produce in "out": value: json: unsupported type: func()`},
	} {
		err := d.TryPipe(topology.Record{Origin: topology.Origin{Topic: "nums"}, Key: tc.key, Value: tc.value})
		require.EqualError(t, err, tc.want)
	}
}
