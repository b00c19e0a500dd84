package topology_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/topology"
)

type stream = topology.Stream[string, string]

func keep(string, string) bool { return true }

func upper(v string) (string, error) { return strings.ToUpper(v), nil }

func look(topology.Message[string, string]) {}

// lines is a source that is in order, and a use of it.
func lines(b *topology.Builder) stream {
	s := topology.Source(b, "lines", topology.String, topology.String)
	s.To("out", topology.String, topology.String)
	return s
}

// pass ends a stream so that it causes no fault of its own.
func pass(s stream, name string) { s.Peek(name, look) }

// faultCase is a call that is wrong, and the exact text that Build answers.
type faultCase struct {
	build func(b *topology.Builder)
	want  []string
}

var faultCases = map[string]faultCase{
	"empty builder": {
		func(*topology.Builder) {},
		[]string{`topology: it has no source: add a Source`},
	},
	"empty operator name": {
		func(b *topology.Builder) { pass(lines(b).Filter("", keep), "p") },
		[]string{`topology: filter "": its name is empty`},
	},
	"bad character in a name": {
		func(b *topology.Builder) { pass(lines(b).Filter("a/b", keep), "p") },
		[]string{`topology: filter "a/b": its name has the character '/': only a-z, A-Z, 0-9, '.', '_' and '-' are allowed`},
	},
	"name too long": {
		func(b *topology.Builder) { pass(lines(b).Filter(strings.Repeat("x", 250), keep), "p") },
		[]string{`topology: filter "` + strings.Repeat("x", 250) + `": its name has 250 characters: at most 249 are allowed`},
	},
	"duplicate operator name": {
		func(b *topology.Builder) {
			s := lines(b)
			pass(s.Filter("a", keep), "p")
			topology.MapValues(s, "a", upper).To("out2", topology.String, topology.String)
		},
		[]string{`topology: map values "a": the name is taken by filter "a"`},
	},
	"duplicate repartition name": {
		func(b *topology.Builder) {
			s := lines(b)
			pass(s.Repartition("r", topology.String, topology.String), "p")
			pass(s.Repartition("r", topology.String, topology.String), "q")
		},
		[]string{`topology: repartition "r": the name is used twice, and both would use topic <application.id>-r-repartition`},
	},
	"duplicate sink name": {
		func(b *topology.Builder) { lines(b).To("out", topology.String, topology.String) },
		[]string{`topology: sink "out": the name is taken by another sink: give one of them a Name`},
	},
	"bad sink name": {
		func(b *topology.Builder) { lines(b).To("more", topology.String, topology.String, topology.Name("a b")) },
		[]string{`topology: sink "a b": its name has the character ' ': only a-z, A-Z, 0-9, '.', '_' and '-' are allowed`},
	},
	"same source name for two topics": {
		func(b *topology.Builder) {
			lines(b)
			pass(topology.Source(b, "other", topology.String, topology.String, topology.Name("lines")), "p")
		},
		[]string{`topology: source "lines": the name is taken by source "lines"`},
	},
	"empty source topic": {
		func(b *topology.Builder) { pass(topology.Source(b, "", topology.String, topology.String), "p") },
		[]string{`topology: source "": its topic "" is empty`},
	},
	"empty sink topic": {
		func(b *topology.Builder) { lines(b).To("", topology.String, topology.String) },
		[]string{`topology: sink "": its topic "" is empty`},
	},
	"reserved topic": {
		func(b *topology.Builder) { lines(b).To("..", topology.String, topology.String) },
		[]string{`topology: sink "..": its topic ".." is reserved`},
	},
	"nil builder stream": {
		func(b *topology.Builder) { pass(lines(b).Merge("m", stream{}), "p") },
		[]string{`topology: merge "m": one of its streams was made by no builder`},
	},
	"nil builder stream first": {
		func(b *topology.Builder) {
			nowhere := topology.Source(nil, "x", topology.String, topology.String)
			pass(nowhere.Merge("m", lines(b)), "p")
		},
		[]string{`topology: merge "m": one of its streams was made by no builder`},
	},
	"stream of another builder": {
		func(b *topology.Builder) { pass(lines(b).Merge("m", lines(topology.New())), "p") },
		[]string{`topology: merge "m": one of its streams was made by another builder`},
	},
	"merge of one": {
		func(b *topology.Builder) { pass(lines(b).Merge("m"), "p") },
		[]string{`topology: merge "m": merges one stream only: give it others`},
	},
	"merge with itself": {
		func(b *topology.Builder) { s := lines(b); pass(s.Merge("m", s), "p") },
		[]string{`topology: merge "m": merges source "lines" twice, which would double its records`},
	},
	"topic read twice with different serdes": {
		func(b *topology.Builder) {
			lines(b)
			topology.Source(b, "lines", topology.String, topology.Int64).To("out2", topology.String, topology.Int64)
		},
		[]string{`topology: source "lines": topic "lines" is read twice with different serdes or names: use the stream of the first Source`},
	},
	"topic read twice under two names": {
		func(b *topology.Builder) {
			lines(b)
			pass(topology.Source(b, "lines", topology.String, topology.String, topology.Name("again")), "p")
		},
		[]string{`topology: source "again": topic "lines" is read twice with different serdes or names: use the stream of the first Source`},
	},
	"nil serdes of a source": {
		func(b *topology.Builder) {
			topology.Source[string, string](b, "lines", nil, nil).To("out", topology.String, topology.String)
		},
		[]string{
			`topology: source "lines": its key serde is nil`,
			`topology: source "lines": its value serde is nil`,
		},
	},
	"nil serdes of a sink": {
		func(b *topology.Builder) {
			topology.Source(b, "lines", topology.String, topology.Nullable(topology.String)).To("out", nil, topology.Nullable[string](nil))
		},
		[]string{
			`topology: sink "out": its key serde is nil`,
			`topology: sink "out": its value serde is nil`,
		},
	},
	"nil serdes of a repartition": {
		func(b *topology.Builder) { pass(lines(b).Repartition("r", nil, nil), "p") },
		[]string{
			`topology: repartition "r": its key serde is nil`,
			`topology: repartition "r": its value serde is nil`,
		},
	},
	"partitions below one": {
		func(b *topology.Builder) {
			pass(lines(b).Repartition("r", topology.String, topology.String, topology.WithPartitions(0)), "p")
		},
		[]string{`topology: repartition "r": has 0 partitions: want at least 1`},
	},
	"nil options": {
		func(b *topology.Builder) {
			s := topology.Source(b, "lines", topology.String, topology.String, nil)
			s.To("out", topology.String, topology.String, nil)
			pass(s.Repartition("r", topology.String, topology.String, nil), "p")
		},
		[]string{
			`topology: source "lines": one of its options is nil`,
			`topology: sink "out": one of its options is nil`,
			`topology: repartition "r": one of its options is nil`,
		},
	},
	"direct loop": {
		func(b *topology.Builder) { lines(b).Filter("f", keep).To("lines", topology.String, topology.String) },
		[]string{`topology: sink "lines": writes topic "lines", which its records come from: they would go round for ever`},
	},
	"direct loop through a repartition and a chosen topic": {
		func(b *topology.Builder) {
			lines(b).Repartition("r", topology.String, topology.String).ToFunc("pick", []string{"x", "lines"},
				func(topology.Message[string, string]) string { return "x" }, topology.String, topology.String)
		},
		[]string{`topology: sink "pick": writes topic "lines", which its records come from: they would go round for ever`},
	},
	"chosen topics": {
		func(b *topology.Builder) {
			s := lines(b)
			s.ToFunc("none", nil, nil, nil, nil)
			s.ToFunc("odd", []string{"a", "b c", "a"}, func(topology.Message[string, string]) string { return "a" }, topology.String, topology.String)
		},
		[]string{
			`topology: sink "none": its function is nil`,
			`topology: sink "none": its key serde is nil`,
			`topology: sink "none": its value serde is nil`,
			`topology: sink "none": lists no topic that its function may choose`,
			`topology: sink "odd": its topic "b c" has the character ' ': only a-z, A-Z, 0-9, '.', '_' and '-' are allowed`,
			`topology: sink "odd": lists topic "a" twice`,
		},
	},
	"loose ends": {
		func(b *topology.Builder) {
			s := lines(b)
			topology.MapValues(s, "m", upper)
			s.Repartition("r", topology.String, topology.String)
			topology.Source(b, "unused", topology.String, topology.String)
			br := s.Branch("route")
			br.Case("c", keep)
			br.Default("rest")
		},
		[]string{
			`topology: map values "m": its stream ends in nothing: add To, ToFunc, Emit, Repartition or Peek`,
			`topology: repartition "r": its stream ends in nothing: add To, ToFunc, Emit, Repartition or Peek`,
			`topology: source "unused": its stream ends in nothing: add To, ToFunc, Emit, Repartition or Peek`,
			`topology: case "c": its stream ends in nothing: add To, ToFunc, Emit, Repartition or Peek`,
			`topology: default "rest": its stream ends in nothing: add To, ToFunc, Emit, Repartition or Peek`,
		},
	},
	"branch without an end": {
		func(b *topology.Builder) { pass(lines(b).Branch("route").Case("c", keep), "p") },
		[]string{`topology: branch "route": say what becomes of the rest: end it with Default or DropRest`},
	},
	"branch without a case": {
		func(b *topology.Builder) { lines(b).Branch("route").DropRest() },
		[]string{`topology: branch "route": has no Case`},
	},
	"branch ended twice": {
		func(b *topology.Builder) {
			br := lines(b).Branch("route")
			pass(br.Default("d"), "p")
			pass(br.Default("e"), "q")
			pass(br.Case("c", keep), "r")
			br.DropRest()
		},
		[]string{
			`topology: branch "route": Default or DropRest is called twice`,
			`topology: default "e": comes after the default of branch "route", which takes every record`,
			`topology: case "c": comes after the default of branch "route", which takes every record`,
		},
	},
	"nil functions": {nilFunctions, []string{
		`topology: map "a": its function is nil`,
		`topology: map values "b": its function is nil`,
		`topology: flat map "c": its function is nil`,
		`topology: flat map values "d": its function is nil`,
		`topology: select key "e": its function is nil`,
		`topology: map message "f": its function is nil`,
		`topology: flat map message "g": its function is nil`,
		`topology: filter "h": its function is nil`,
		`topology: peek "i": its function is nil`,
		`topology: case "k": its function is nil`,
	}},
	"everything at once": {
		func(b *topology.Builder) {
			s := topology.Source(b, "lines", topology.String, topology.String)
			topology.MapValues[string, string, string](s.Filter("bad name", keep), "x", nil)
			s.To("lines", nil, topology.String)
		},
		[]string{
			`topology: filter "bad name": its name has the character ' ': only a-z, A-Z, 0-9, '.', '_' and '-' are allowed`,
			`topology: map values "x": its function is nil`,
			`topology: sink "lines": its key serde is nil`,
			`topology: sink "lines": writes topic "lines", which its records come from: they would go round for ever`,
			`topology: map values "x": its stream ends in nothing: add To, ToFunc, Emit, Repartition or Peek`,
		},
	},
}

func TestBuildFaults(t *testing.T) {
	t.Parallel()
	for name, tc := range faultCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := topology.New()
			tc.build(b)
			top, err := b.Build()
			require.Nil(t, top)
			require.EqualError(t, err, strings.Join(tc.want, "\n"))
			joined, ok := err.(interface{ Unwrap() []error })
			require.True(t, ok)
			for _, one := range joined.Unwrap() {
				require.ErrorIs(t, one, topology.ErrInvalid)
			}
		})
	}
}

func nilFunctions(b *topology.Builder) {
	s := lines(b)
	pass(topology.Map[string, string, string, string](s, "a", nil), "pa")
	pass(topology.MapValues[string, string, string](s, "b", nil), "pb")
	pass(topology.FlatMap[string, string, string, string](s, "c", nil), "pc")
	pass(topology.FlatMapValues[string, string, string](s, "d", nil), "pd")
	pass(topology.SelectKey[string, string, string](s, "e", nil), "pe")
	pass(topology.MapMessage[string, string, string, string](s, "f", nil), "pf")
	pass(topology.FlatMapMessage[string, string, string, string](s, "g", nil), "pg")
	pass(s.Filter("h", nil), "ph")
	s.Peek("i", nil)
	br := s.Branch("j")
	pass(br.Case("k", nil), "pk")
	br.DropRest()
}

func TestBuildOnlyOnce(t *testing.T) {
	t.Parallel()
	b := topology.New()
	s := lines(b)
	top, err := b.Build()
	require.NoError(t, err)
	before := top.Describe()

	// Operators added afterwards change nothing.
	pass(topology.MapValues(s, "late", upper), "p")
	s.To("late", topology.String, topology.String)
	s.Repartition("r", topology.String, topology.String).To("x", topology.String, topology.String)
	br := s.Branch("b")
	br.Case("c", keep).Merge("m", s)
	br.DropRest()
	topology.Source(b, "late", topology.String, topology.String)
	require.Equal(t, before, top.Describe())

	_, err = b.Build()
	require.EqualError(t, err, "topology: Build was called before: a Builder builds one topology")
	require.ErrorIs(t, err, topology.ErrInvalid)
}

// A stream of no builder takes every call, and nothing panics.
func TestNoBuilder(t *testing.T) {
	t.Parallel()
	var none *topology.Builder
	_, err := none.Build()
	require.EqualError(t, err, "topology: the builder is nil: make one with New")
	require.ErrorIs(t, err, topology.ErrInvalid)

	nilFunctions(none)
	var s stream
	s.To("a", nil, nil)
	s.ToFunc("b", nil, nil, nil, nil)
	pass(s.Merge("c", stream{}), "p")
	pass(s.Repartition("d", nil, nil, topology.WithPartitions(-1)), "p")
	var br *topology.Branches[string, string]
	pass(br.Case("e", nil), "p")
	br.DropRest()
	pass(new(topology.Branches[string, string]).Default("f"), "p")
}
