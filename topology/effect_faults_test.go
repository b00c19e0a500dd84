package topology_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/topology"
)

// numberEffect has payloads of another type, and is compared by value.
type numberEffect struct{ name string }

func (e numberEffect) EffectName() string { return e.name }

func (e numberEffect) Guarantee() (class, claim, onUnknown string) {
	return "natural", "once", "repeated"
}

func (e numberEffect) AppendIntent(dst []byte, _ int, _ string, _ [16]byte, _ int32, _ int64, _ int32) (by string, intent []byte, err error) {
	return "", dst, nil
}

func (e numberEffect) DecodeOutcome([]byte) (p int, key, state, why string, result []byte, err error) {
	return 0, "", "", "", nil, nil
}

type ended = topology.Message[string, topology.Outcome[string]]

// seen ends a stream of outcomes so that it causes no fault of its own.
func seen(s topology.Stream[string, topology.Outcome[string]], name string) {
	s.Peek(name, func(ended) {})
}

// texts makes payloads of outcomes again.
func texts(s topology.Stream[string, topology.Outcome[string]], name string) stream {
	return topology.MapValues(s, name, func(o topology.Outcome[string]) (string, error) { return o.Payload, nil })
}

var effectFaultCases = map[string]faultCase{
	"nil effect": {
		func(b *topology.Builder) {
			lines(b).Emit("ask", nil)
			seen(topology.Outcomes[string](b, "ended", nil), "p")
		},
		[]string{`topology: emit "ask": its effect is nil`, `topology: outcomes "ended": its effect is nil`},
	},
	"nil pointer": {
		func(b *topology.Builder) { lines(b).Emit("ask", (*textEffect)(nil)) },
		[]string{`topology: emit "ask": its effect is nil`},
	},
	"bad names of effects": {
		func(b *topology.Builder) {
			s := lines(b)
			s.Emit("ask", newEffect(""))
			s.Emit("ask-more", newEffect(""))
			seen(topology.Outcomes(b, "ended", newEffect("a b")), "p")
		},
		[]string{
			`topology: emit "ask": the name of its effect is empty`,
			`topology: emit "ask-more": the name of its effect is empty`,
			`topology: outcomes "ended": the name of its effect has the character ' ': only a-z, A-Z, 0-9, '.', '_' and '-' are allowed`,
		},
	},
	"bad names of steps": {
		func(b *topology.Builder) {
			lines(b).Emit("", newEffect("charge"))
			seen(topology.Outcomes(b, "a/b", newEffect("mail")), "p")
		},
		[]string{
			`topology: emit "": its name is empty`,
			`topology: outcomes "a/b": its name has the character '/': only a-z, A-Z, 0-9, '.', '_' and '-' are allowed`,
		},
	},
	"no promise": {
		func(b *topology.Builder) { lines(b).Emit("ask", &textEffect{"charge", " \n"}) },
		[]string{`topology: emit "ask": its effect promises nothing: Guarantee has to give a class, a claim and what happens in doubt`},
	},
	"two effects of one name": {
		func(b *topology.Builder) {
			s := lines(b)
			s.Emit("ask", newEffect("charge"))
			s.Emit("again", newEffect("charge"))
			sizes := topology.MapValues(s, "size", func(v string) (int, error) { return len(v), nil })
			sizes.Emit("number", numberEffect{"charge"})
			seen(topology.Outcomes(b, "ended", newEffect("charge")), "p")
		},
		[]string{
			`topology: emit "again": two effects are called "charge": give every step the same one`,
			`topology: emit "number": two effects are called "charge": give every step the same one`,
			`topology: outcomes "ended": two effects are called "charge": give every step the same one`,
		},
	},
	"outcomes of two effects of one name": {
		func(b *topology.Builder) {
			lines(b)
			seen(topology.Outcomes(b, "ended", newEffect("charge")), "p")
			seen(topology.Outcomes(b, "ended", newEffect("charge")), "q")
		},
		[]string{`topology: outcomes "ended": two effects are called "charge": give every step the same one`},
	},
	"outcomes read under two names": {
		func(b *topology.Builder) {
			lines(b)
			charge := newEffect("charge")
			seen(topology.Outcomes(b, "ended", charge), "p")
			seen(topology.Outcomes(b, "again", charge), "q")
		},
		[]string{`topology: outcomes "again": the outcomes of effect "charge" are read twice under different names: use the stream of the first Outcomes`},
	},
	"names that are taken": {
		func(b *topology.Builder) {
			s := lines(b)
			s.Emit("out", newEffect("charge"))
			s.Emit("ask", newEffect("mail"))
			s.Emit("ask", newEffect("book"))
			s.To("far", topology.String, topology.String, topology.Name("ask"))
			seen(topology.Outcomes(b, "lines", newEffect("print")), "p")
			pass(topology.Source(b, "other", topology.String, topology.String, topology.Name("lines")), "q")
			seen(topology.Outcomes(b, "ended", newEffect("x")), "r")
			seen(topology.Outcomes(b, "ended", newEffect("y")), "s")
			pass(topology.Source(b, "more", topology.String, topology.String, topology.Name("ended")), "u")
		},
		[]string{
			`topology: emit "out": the name is taken by sink "out"`,
			`topology: emit "ask": the name is taken by emit "ask"`,
			`topology: sink "ask": the name is taken by emit "ask"`,
			`topology: outcomes "lines": the name is taken by source "lines"`,
			`topology: source "lines": the name is taken by source "lines"`,
			`topology: outcomes "ended": the name is taken by outcomes "ended"`,
			`topology: source "ended": the name is taken by outcomes "ended"`,
		},
	},
	"effect behind its own outcomes": {
		func(b *topology.Builder) {
			charge := newEffect("charge")
			s := lines(b)
			s.Emit("ask", charge)
			again := texts(topology.Outcomes(b, "ended", charge), "text")
			again.Emit("direct", charge)
			again.Emit("mail", newEffect("mail"))
			again.Merge("m", s).Repartition("r", topology.String, topology.String).Filter("f", keep).Emit("far", charge)
		},
		[]string{
			`topology: emit "direct": emits effect "charge", whose outcomes its records come from: they would go round for ever`,
			`topology: emit "far": emits effect "charge", whose outcomes its records come from: they would go round for ever`,
		},
	},
	"outcomes without a use": {
		func(b *topology.Builder) {
			lines(b)
			topology.Outcomes(b, "ended", newEffect("charge"))
		},
		[]string{`topology: outcomes "ended": its stream ends in nothing: add To, ToFunc, Emit, Repartition or Peek`},
	},
	"outcomes only": {
		func(b *topology.Builder) { seen(topology.Outcomes(b, "ended", newEffect("charge")), "p") },
		[]string{`topology: it has no source: add a Source`},
	},
}

func TestEffectFaults(t *testing.T) {
	t.Parallel()
	for name, tc := range effectFaultCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := topology.New()
			tc.build(b)
			top, err := b.Build()
			require.Nil(t, top)
			require.ErrorIs(t, err, topology.ErrInvalid)
			require.EqualError(t, err, strings.Join(tc.want, "\n"))
		})
	}
}

// What is not a fault: effects that are equal by value, an emit in front of its
// own outcomes, and a sink and a source that share a name with an inner step.
func TestEffectsThatAreInOrder(t *testing.T) {
	t.Parallel()
	b := topology.New()
	sizes := topology.MapValues(lines(b), "charge", func(v string) (int, error) { return len(v), nil })
	sizes.Emit("charge", numberEffect{"charge"})
	sizes.Emit("again", numberEffect{"charge"})
	topology.Outcomes(b, "charge", numberEffect{"charge"}).Peek("p", func(topology.Message[string, topology.Outcome[int]]) {})
	_, err := b.Build()
	require.NoError(t, err)
}

func TestResolveFaultsOfEffects(t *testing.T) {
	t.Parallel()
	str := topology.String
	long := strings.Repeat("x", 240)
	charge := newEffect("charge")
	b := topology.New()
	s := topology.Source(b, "app-charge-intents", str, str)
	s.Emit("ask", charge)
	s.Emit("again", charge)
	s.To("app-charge-outcomes", str, str)
	s.To("app-mail-outcomes", str, str) // nobody reads how it ends
	s.Emit("mail", newEffect("mail"))
	s.Emit("long", newEffect(long))
	seen(topology.Outcomes(b, "ended", charge), "p")
	top, err := b.Build()
	require.NoError(t, err)
	tooLong := `topology: effect "` + long + `": its topic "app-` + long + `-intents" has 252 characters: at most 249 are allowed`
	plan, err := top.Resolve("app")
	require.Nil(t, plan)
	require.ErrorIs(t, err, topology.ErrInvalid)
	require.EqualError(t, err, `topology: effect "charge": its topic "app-charge-intents" is also that of source "app-charge-intents"`+"\n"+
		`topology: effect "charge": its topic "app-charge-outcomes" is also that of sink "app-charge-outcomes"`+"\n"+tooLong)
	_, err = top.Resolve("lib")
	require.EqualError(t, err, strings.ReplaceAll(tooLong, `"app-`, `"lib-`))
}

// Effects after Build, and of no builder, change nothing and do not panic.
func TestEffectsOfNoBuilder(t *testing.T) {
	t.Parallel()
	var none *topology.Builder
	stream{}.Emit("ask", newEffect("charge"))
	stream{}.Emit("ask", nil)
	seen(topology.Outcomes(none, "ended", newEffect("charge")), "p")
	texts(topology.Outcomes[string](none, "ended", nil), "t").Emit("ask", newEffect("charge"))

	b := topology.New()
	s := lines(b)
	top, err := b.Build()
	require.NoError(t, err)
	before := top.Describe()
	s.Emit("ask", newEffect("charge"))
	seen(topology.Outcomes(b, "ended", newEffect("charge")), "p")
	require.Equal(t, before, top.Describe())
}
