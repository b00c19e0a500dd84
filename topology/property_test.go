package topology_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/topology"
	"github.com/weirstream/weir/topology/topologytest"
)

// step is one operator of a random topology, to be built and, apart from that, to
// be interpreted by asking each sink what its input would be.
type step struct {
	kind, name string
	ups        []*step
	arg        int
	earlier    []*step // case and default: the cases before
	merged     bool    // a merge is upstream: order within one input is free
}

// fact is a record as both sides show it. A nil key or value is null.
type fact struct {
	key, value *string
	headers    string
	timestamp  time.Time
}

func (f fact) String() string {
	show := func(s *string) string {
		if s == nil {
			return "null"
		}
		return fmt.Sprintf("%q", *s)
	}
	return fmt.Sprintf("%s=%s [%s] %s", show(f.key), show(f.value), f.headers, f.timestamp.Format(time.RFC3339Nano))
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// takes is the predicate of filters and cases.
func takes(key string, value *string, arg int) bool {
	return (len(key)+len(text(value)))%3 != arg
}

// eval is the dumb implementation: everything that st makes out of one input.
func eval(st *step, in fact) []fact {
	if st.kind == "source" {
		return []fact{in}
	}
	var all []fact
	for _, up := range st.ups {
		for _, f := range eval(up, in) {
			all = append(all, apply(st, f)...)
		}
	}
	return all
}

func apply(st *step, f fact) []fact {
	value := text(f.value) + st.name
	switch st.kind {
	case "filter", "case", "default":
		for _, c := range st.earlier {
			if takes(text(f.key), f.value, c.arg) {
				return nil
			}
		}
		if st.kind != "default" && !takes(text(f.key), f.value, st.arg) {
			return nil
		}
	case "values":
		f.value = &value
	case "tombstone":
		f.value = nil
	case "flatvalues":
		return slices.Repeat([]fact{f}, st.arg)
	case "map":
		key := text(f.value)
		f.key, f.value = &key, &value
	case "select":
		key := text(f.key) + st.name
		f.key = &key
	case "message":
		f.headers += st.name + ";"
		f.timestamp = f.timestamp.Add(time.Second)
	case "flatmessage":
		g := f
		g.headers += st.name + ";"
		g.key = &st.name
		return []fact{g, f}
	}
	return []fact{f}
}

type anyStream = topology.Stream[string, *string]

// build is the same in operators of the package under test.
func build(s anyStream, st *step) anyStream {
	type message = topology.Message[string, *string]
	add := func(v *string) *string { v2 := text(v) + st.name; return &v2 }
	switch st.kind {
	case "filter":
		return s.Filter(st.name, func(k string, v *string) bool { return takes(k, v, st.arg) })
	case "values":
		return topology.MapValues(s, st.name, func(v *string) (*string, error) { return add(v), nil })
	case "tombstone":
		return topology.MapValues(s, st.name, func(*string) (*string, error) { return nil, nil })
	case "flatvalues":
		return topology.FlatMapValues(s, st.name, func(v *string) ([]*string, error) { return slices.Repeat([]*string{v}, st.arg), nil })
	case "map":
		return topology.Map(s, st.name, func(_ string, v *string) (string, *string, error) { return text(v), add(v), nil })
	case "select":
		return topology.SelectKey(s, st.name, func(k string, _ *string) (string, error) { return k + st.name, nil })
	case "message":
		return topology.MapMessage(s, st.name, func(m message) (message, error) {
			m.Timestamp = m.Timestamp.Add(time.Second)
			return m.WithHeader(st.name, nil), nil
		})
	case "flatmessage":
		return topology.FlatMapMessage(s, st.name, func(m message) ([]message, error) {
			return []message{topology.WithKey(m.WithHeader(st.name, nil), st.name), m}, nil
		})
	case "peek":
		return s.Peek(st.name, func(message) {})
	case "repartition":
		return s.Repartition(st.name, topology.String, topology.Nullable(topology.String), topology.WithPartitions(st.arg+1))
	}
	panic(st.kind)
}

var kinds = []string{"filter", "values", "tombstone", "flatvalues", "map", "select", "message", "flatmessage", "peek", "repartition", "branch", "merge"}

// random makes a topology of up to 12 operators on one source, with a sink behind
// every stream, and returns the steps behind which the sinks s0, s1, … are.
func random(t *testing.T, rng *rand.Rand) (*topology.Topology, []*step) {
	t.Helper()
	b := topology.New()
	nullable := topology.Nullable(topology.String)
	steps := []*step{{kind: "source", name: "in"}}
	streams := []anyStream{topology.Source(b, "in", topology.String, nullable)}
	grow := func(st *step, s anyStream) {
		for _, up := range st.ups {
			st.merged = st.merged || up.merged
		}
		steps, streams = append(steps, st), append(streams, s)
	}
	for i := range 1 + rng.IntN(12) {
		at := rng.IntN(len(steps))
		st := &step{kind: kinds[rng.IntN(len(kinds))], name: fmt.Sprintf("op%d", i), ups: []*step{steps[at]}, arg: rng.IntN(3)}
		switch st.kind {
		case "merge":
			other := rng.IntN(len(steps))
			if other == at {
				continue
			}
			st.ups, st.merged = append(st.ups, steps[other]), true
			grow(st, streams[at].Merge(st.name, streams[other]))
		case "branch":
			br := streams[at].Branch(st.name)
			var cases []*step
			for j := range 1 + rng.IntN(2) {
				c := &step{kind: "case", name: fmt.Sprintf("op%d-%d", i, j), ups: st.ups, arg: rng.IntN(3), earlier: slices.Clone(cases)}
				cases = append(cases, c)
				grow(c, br.Case(c.name, func(k string, v *string) bool { return takes(k, v, c.arg) }))
			}
			rest := &step{kind: "default", name: st.name + "-rest", ups: st.ups, earlier: cases}
			grow(rest, br.Default(rest.name))
		default:
			grow(st, build(streams[at], st))
		}
	}
	for i, s := range streams {
		s.To(fmt.Sprintf("s%d", i), topology.String, nullable)
	}
	top, err := b.Build()
	require.NoError(t, err)
	return top, steps
}

// Random small topologies do what the dumb implementation does: the same records
// at every sink, and in the same order where no merge is upstream.
func TestRandomTopologies(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0))
			top, steps := random(t, rng)
			d := topologytest.New(t, top)
			in := topologytest.NewInput(d, "in", topology.String, topology.Nullable(topology.String))
			for i := range 5 {
				f := randomFact(rng, d.Now().Add(time.Duration(i)*time.Minute))
				in.PipeMessage(topology.Message[string, *string]{Key: text(f.key), NullKey: f.key == nil, Value: f.value, Timestamp: f.timestamp})
				for j, st := range steps {
					want, got := show(eval(st, f)), show(facts(d, fmt.Sprintf("s%d", j)))
					if st.merged {
						slices.Sort(want)
						slices.Sort(got)
					}
					require.Equal(t, want, got, "behind %s %s", st.kind, st.name)
				}
			}
		})
	}
}

func randomFact(rng *rand.Rand, at time.Time) fact {
	word := func() *string {
		if n := rng.IntN(5); n > 0 {
			s := strings.Repeat("x", n-1)
			return &s
		}
		return nil
	}
	return fact{key: word(), value: word(), timestamp: at}
}

// facts reads topic.
func facts(d *topologytest.Driver, topic string) []fact {
	var all []fact
	for _, r := range d.Read(topic) {
		f := fact{timestamp: r.Timestamp}
		if r.Key != nil {
			s := string(r.Key)
			f.key = &s
		}
		if r.Value != nil {
			s := string(r.Value)
			f.value = &s
		}
		for _, h := range r.Headers {
			f.headers += h.Key + ";"
		}
		all = append(all, f)
	}
	return all
}

func show(facts []fact) []string {
	var all []string
	for _, f := range facts {
		all = append(all, f.String())
	}
	return all
}
