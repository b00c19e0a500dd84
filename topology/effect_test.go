package topology_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/topology"
)

// textEffect is an effect on text. Its intents show what it was given.
type textEffect struct{ name, claim string }

func (e *textEffect) EffectName() string { return e.name }

func (e *textEffect) Guarantee() (class, claim, onUnknown string) {
	return "keyed remote", e.claim, "repeated with the same key"
}

func (e *textEffect) AppendIntent(dst []byte, p, topic string, topicID [16]byte, partition int32, offset int64, ordinal int32) (by string, intent []byte, err error) {
	switch p {
	case "refuse":
		return "", nil, errBoom
	case "panic":
		panic(errBoom)
	}
	return "by " + p, fmt.Appendf(dst, "%s %s/%x[%d]@%d #%d", p, topic, topicID[:1], partition, offset, ordinal), nil
}

func (e *textEffect) DecodeOutcome(data []byte) (p, key, state, why string, result []byte, err error) {
	parts := strings.Split(string(data), "|")
	if len(parts) != 5 {
		return "", "", "", "", nil, errors.New("five parts are wanted")
	}
	return parts[0], parts[1], parts[2], parts[3], []byte(parts[4]), nil
}

func newEffect(name string) *textEffect {
	return &textEffect{name, "exactly once within the remote's window"}
}

// fields is a flat map that makes a value of each word.
func fields(v string) ([]string, error) { return strings.Fields(v), nil }

// outputs runs a record and returns what it emits.
func outputs(t testing.TB, r *topology.Runner, rec *topology.Record) []topology.Output {
	t.Helper()
	var all []topology.Output
	require.NoError(t, r.Process(rec, func(o *topology.Output) { all = append(all, *o) }))
	return all
}

func TestEmitWritesAnIntent(t *testing.T) {
	t.Parallel()
	b := topology.New()
	topology.Source(b, "in", topology.String, topology.String).Emit("ask", newEffect("charge"))
	at := time.UnixMilli(1234567890123)
	rec := &topology.Record{
		Origin: topology.Origin{Topic: "in", TopicID: [16]byte{0xab}, Partition: 3, Offset: 42},
		Value:  []byte("five"), Headers: []topology.Header{{Key: "h"}}, Timestamp: at,
	}
	require.Equal(t, []topology.Output{{
		Topic: "app-charge-intents", Key: []byte("by five"), Value: []byte("five in/ab[3]@42 #0"), Timestamp: at, Sink: "ask",
	}}, outputs(t, runner(t, b), rec))
}

// Ordinals count the intents of one effect and one record, over all of its steps.
func TestOrdinalsCountPerEffectAndRecord(t *testing.T) {
	t.Parallel()
	charge, mail := newEffect("charge"), newEffect("mail")
	b := topology.New()
	s := topology.Source(b, "in", topology.String, topology.String)
	words := topology.FlatMapValues(s, "words", fields)
	words.Emit("charge-word", charge)
	words.Emit("mail-word", mail)
	s.Emit("charge-all", charge)
	r := runner(t, b)
	intents := func(value string) (got []string) {
		_ = r.Process(record("in", value), func(o *topology.Output) { got = append(got, o.Sink+": "+string(o.Value)) })
		return got
	}
	want := []string{
		"charge-word: a in/00[0]@0 #0", "mail-word: a in/00[0]@0 #0",
		"charge-word: b in/00[0]@0 #1", "mail-word: b in/00[0]@0 #1",
		"charge-all: a b in/00[0]@0 #2",
	}
	require.Equal(t, want, intents("a b"))
	require.Equal(t, want, intents("a b"), "each record counts anew")
	require.Len(t, intents("a refuse"), 2)
	require.Equal(t, want, intents("a b"), "also after one that failed")
}

func TestRefusedIntentIsAnErrorOfPhaseEffect(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"refuse": `effect in "ask": boom`,
		"panic":  `effect in "ask": panic: boom`,
	} {
		b := topology.New()
		topology.Source(b, "in", topology.String, topology.String).Emit("ask", newEffect("charge"))
		r := runner(t, b)
		err := r.Process(record("in", value), func(*topology.Output) { t.Error("an output") })
		require.EqualError(t, err, want)
		var failed *topology.RecordError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, topology.PhaseEffect, failed.Phase)
		require.ErrorIs(t, err, errBoom)
		require.Len(t, outputs(t, r, record("in", "fine")), 1, "the Runner still works")
	}
}

// What is wrong in emit is the caller's, also with an intent.
func TestPanicInEmitOfAnIntentGoesThrough(t *testing.T) {
	t.Parallel()
	b := topology.New()
	topology.Source(b, "in", topology.String, topology.String).Emit("ask", newEffect("charge"))
	r := runner(t, b)
	require.PanicsWithError(t, "boom", func() {
		_ = r.Process(record("in", "v"), func(*topology.Output) { panic(errBoom) })
	})
}

// Intents share the memory of other outputs and must not be overwritten.
func TestIntentsAreNotOverwritten(t *testing.T) {
	t.Parallel()
	b := topology.New()
	s := topology.Source(b, "in", topology.String, topology.String)
	s.Emit("ask", newEffect("charge"))
	s.To("out", topology.String, topology.String)
	r := runner(t, b)
	var all []topology.Output
	var want []string
	for i := range 2000 {
		v := strings.Repeat(fmt.Sprint(i), i%30)
		all = append(all, outputs(t, r, record("in", v))...)
		want = append(want, "by "+v, v+" in/00[0]@0 #0", "k", v)
	}
	var got []string
	for _, o := range all {
		got = append(got, string(o.Key), string(o.Value))
		require.Equal(t, len(o.Key), cap(o.Key), "an append by the receiver must not reach the next output")
		require.Equal(t, len(o.Value), cap(o.Value), "an append by the receiver must not reach the next output")
	}
	require.Equal(t, want, got)
}

// freeEffect costs nothing itself.
type freeEffect struct{ textEffect }

func (e *freeEffect) AppendIntent(dst []byte, p, _ string, _ [16]byte, _ int32, _ int64, _ int32) (by string, intent []byte, err error) {
	return "by", append(dst, p...), nil
}

// An intent costs no allocation of its own: two strings are decoded, and less
// than one block of the arena is filled.
func TestAllocationsPerIntent(t *testing.T) {
	b := topology.New()
	effect := &freeEffect{*newEffect("charge")}
	topology.Source(b, "in", topology.String, topology.String).Emit("ask", effect)
	r := runner(t, b)
	rec := &topology.Record{Origin: topology.Origin{Topic: "in"}, Key: benchKey, Value: benchValue}
	emit := func(*topology.Output) {}
	require.LessOrEqual(t, testing.AllocsPerRun(1000, func() {
		require.NoError(t, r.Process(rec, emit))
	}), 2.0)
}

func TestOutcomesAreRead(t *testing.T) {
	t.Parallel()
	type outcome = topology.Outcome[string]
	b := topology.New()
	lines(b)
	var got []outcome
	ended := topology.Outcomes(b, "charged", newEffect("charge"))
	ended.Peek("see", func(m topology.Message[string, outcome]) {
		require.Equal(t, "ann", m.Key)
		got = append(got, m.Value)
	})
	done := ended.Filter("done", func(_ string, o outcome) bool { return o.Done() })
	topology.MapValues(done, "payload", func(o outcome) (string, error) { return o.Payload, nil }).
		To("booked", topology.String, topology.String)
	r := runner(t, b)
	run := func(value string) []topology.Output {
		rec := record("app-charge-outcomes", value)
		rec.Key = []byte("ann")
		return outputs(t, r, rec)
	}
	require.Equal(t, "five", string(run("five|key|done||ok")[0].Value))
	require.Empty(t, run("six|key|rejected|too_old|"))
	require.Equal(t, []outcome{
		{Payload: "five", Key: "key", State: "done", Result: []byte("ok")},
		{Payload: "six", Key: "key", State: "rejected", Why: "too_old", Result: []byte{}},
	}, got)

	err := r.Process(record("app-charge-outcomes", "odd"), func(*topology.Output) {})
	require.EqualError(t, err, `decode in "charged": value: five parts are wanted`)
}

func TestSameOutcomesTwiceAreTheSameStream(t *testing.T) {
	t.Parallel()
	b := topology.New()
	charge := newEffect("charge")
	one := topology.Outcomes(b, "charged", charge)
	require.Equal(t, one, topology.Outcomes(b, "charged", charge))
	one.Peek("see", func(topology.Message[string, topology.Outcome[string]]) {})
	lines(b)
	_, err := b.Build()
	require.NoError(t, err)
}

func TestEffectsOfAPlan(t *testing.T) {
	t.Parallel()
	plan, err := everyEffect(t).Resolve("shop")
	require.NoError(t, err)
	require.Equal(t, []topology.EffectTopics{
		{Effect: "charge", Intents: "shop-charge-intents", Outcomes: "shop-charge-outcomes", From: []int{0, 1}, Emitted: true, Read: true},
		{Effect: "mail", Intents: "shop-mail-intents", From: []int{2}, Emitted: true},
		{Effect: "book", Intents: "shop-book-intents", Outcomes: "shop-book-outcomes", Read: true},
	}, plan.Effects())
	require.Equal(t, []string{"orders", "shop-account-repartition", "shop-charge-outcomes", "shop-book-outcomes"}, plan.Sources())
	require.Equal(t, []string{"shop-charge-intents", "shop-account-repartition", "shop-mail-intents"}, plan.Sinks())
	require.Equal(t, []topology.Subtopology{
		{ID: 0, Sources: []string{"orders"}, Sinks: []string{"shop-charge-intents", "shop-account-repartition"}},
		{ID: 1, Sources: []string{"shop-account-repartition"}, Sinks: []string{"shop-charge-intents"}},
		{ID: 2, Sources: []string{"shop-charge-outcomes"}, Sinks: []string{"shop-mail-intents"}},
		{ID: 3, Sources: []string{"shop-book-outcomes"}},
	}, plan.Subtopologies())

	none, err := everyKind(t).Resolve("shop")
	require.NoError(t, err)
	require.Empty(t, none.Effects())
}

// everyEffect emits charge in two sub-topologies and mail behind its outcomes;
// book is emitted elsewhere.
func everyEffect(t testing.TB) *topology.Topology {
	t.Helper()
	type outcome = topology.Outcome[string]
	str := topology.String
	charge := newEffect("charge")
	mail := &textEffect{"mail", "may be lost, \"never\"\n doubled <1#2>"}
	b := topology.New()
	orders := topology.Source(b, "orders", str, str)
	orders.Emit("charge-now", charge)
	orders.Repartition("account", str, str).Emit("charge-later", charge)
	charged := topology.Outcomes(b, "charged", charge).Filter("done", func(_ string, o outcome) bool { return o.Done() })
	topology.MapValues(charged, "text", func(o outcome) (string, error) { return o.Payload, nil }).Emit("mail", mail)
	topology.Outcomes(b, "booked", newEffect("book")).Peek("log", func(topology.Message[string, outcome]) {})
	top, err := b.Build()
	require.NoError(t, err)
	return top
}
