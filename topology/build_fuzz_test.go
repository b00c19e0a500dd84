package topology_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/topology"
)

// calls reads choices from fuzzed bytes; when they end, every choice is 0.
type calls struct{ data []byte }

func (c *calls) pick(n int) int {
	if len(c.data) == 0 {
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return int(b) % n
}

func (c *calls) name() string {
	return []string{"a", "b", "c", "d", "e", "f", "", "..", "a b", strings.Repeat("n", 300)}[c.pick(10)]
}

func (c *calls) serde() topology.Serde[string] {
	return []topology.Serde[string]{topology.String, topology.JSON[string](), nil}[c.pick(3)]
}

func (c *calls) effect() topology.Effect[string] {
	return []topology.Effect[string]{fuzzedA, fuzzedB, newEffect(fuzzedA.name), newEffect("a b"), (*textEffect)(nil), nil}[c.pick(6)]
}

var fuzzedA, fuzzedB = newEffect("a"), newEffect("b")

// one makes one call of the package on a stream made before.
func (c *calls) one(b *topology.Builder, made []stream) []stream {
	s := made[c.pick(len(made))]
	switch c.pick(12) {
	case 0:
		return append(made, topology.Source(b, c.name(), c.serde(), c.serde(), topology.Name(c.name())))
	case 1:
		s.To(c.name(), c.serde(), c.serde())
	case 2:
		return append(made, s.Filter(c.name(), []func(string, string) bool{keep, nil}[c.pick(2)]))
	case 3:
		return append(made, topology.MapValues(s, c.name(), []func(string) (string, error){upper, nil}[c.pick(2)]))
	case 4:
		return append(made, s.Merge(c.name(), made[c.pick(len(made))], made[c.pick(len(made))]))
	case 5:
		return append(made, s.Repartition(c.name(), c.serde(), c.serde(), topology.WithPartitions(c.pick(3))))
	case 6:
		br := s.Branch(c.name())
		made = append(made, br.Case(c.name(), keep))
		if c.pick(2) == 0 {
			return append(made, br.Default(c.name()))
		}
		br.DropRest()
	case 7:
		s.ToFunc(c.name(), []string{c.name(), c.name()}, func(m topology.Message[string, string]) string { return m.Value }, c.serde(), c.serde())
	case 8:
		return append(made, s.Peek(c.name(), look))
	case 9:
		return append(made, topology.Source(b, c.name(), c.serde(), c.serde()))
	case 10:
		s.Emit(c.name(), c.effect())
	case 11:
		return append(made, texts(topology.Outcomes(b, c.name(), c.effect()), c.name()))
	}
	return made
}

// Whatever is called, Build reports faults that match ErrInvalid or returns a
// topology that runs; nothing panics.
func FuzzBuild(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 9, 0, 0, 0, 1, 1, 1, 0, 0})
	f.Add([]byte{0, 0, 1, 0, 0, 2, 1, 4, 3, 1, 0, 1, 5, 3, 0, 0, 1, 2, 1, 5, 0, 0})
	f.Add([]byte{0, 9, 0, 0, 0, 1, 10, 1, 0, 0, 11, 2, 1, 3, 2, 1, 3, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		c := &calls{data: data}
		b := topology.New()
		made := []stream{{}}
		for i := 0; i < 30 && len(c.data) > 0; i++ {
			made = c.one(b, made)
		}
		top, err := b.Build()
		if err != nil {
			require.ErrorIs(t, err, topology.ErrInvalid)
			require.Nil(t, top)
			for line := range strings.Lines(err.Error()) {
				require.True(t, strings.HasPrefix(line, "topology: "), line)
			}
			return
		}
		require.NotEmpty(t, top.Describe())
		require.NotEmpty(t, top.Mermaid())
		plan, err := top.Resolve("app")
		if err != nil {
			require.ErrorIs(t, err, topology.ErrInvalid)
			return
		}
		r := plan.Runner()
		for _, topic := range plan.Sources() {
			_ = r.Process(record(topic, `"a"`), func(o *topology.Output) {
				require.Contains(t, plan.Sinks(), o.Topic)
			})
		}
	})
}
