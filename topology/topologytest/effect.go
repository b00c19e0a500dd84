package topologytest

import (
	"github.com/weirstream/weir/topology"
)

// Effect shows what a topology asks of one effect, and says how it ends. Nothing
// is performed, and nothing ends by itself.
type Effect[P any] struct {
	d      *Driver
	topics topology.EffectTopics
}

// Intent is what a step asked of an effect.
type Intent[P any] struct {
	Step    string // name of the Emit
	By      string // what intents are partitioned by: the key of the record
	Payload P
	Data    []byte          // as the effect wrote it: the value of the record
	Origin  topology.Origin // the place of the record in the topic of intents
}

// NewEffect returns an Effect for one that the topology emits or whose outcomes
// it reads; any other fails the test.
func NewEffect[P any](d *Driver, effect topology.Effect[P]) *Effect[P] {
	d.t.Helper()
	name := effect.EffectName()
	for _, topics := range d.plan.Effects() {
		if topics.Effect == name {
			return &Effect[P]{d, topics}
		}
	}
	d.t.Fatalf("topologytest: effect %s is neither emitted nor are its outcomes read", name)
	return nil
}

// Intents returns what was asked for since the last read of the intents, in the
// order of asking. A record that fails asks for nothing. It fails the test if the
// topology does not emit the effect.
func (e *Effect[P]) Intents() []Intent[P] {
	e.d.t.Helper()
	if !e.topics.Emitted {
		e.d.t.Fatalf("topologytest: effect %s is not emitted, only its outcomes are read", e.topics.Effect)
	}
	var all []Intent[P]
	for _, w := range e.d.read(e.topics.Intents) {
		payload, ok := w.payload.(P)
		if !ok && w.payload != nil {
			e.d.t.Fatalf("topologytest: effect %s: its payload is a %T, not a %T", e.topics.Effect, w.payload, payload)
		}
		all = append(all, Intent[P]{w.sink, string(w.Key), payload, w.Value, w.Origin})
	}
	return all
}

// Payloads is the payloads of [Effect.Intents].
func (e *Effect[P]) Payloads() []P {
	e.d.t.Helper()
	var payloads []P
	for _, in := range e.Intents() {
		payloads = append(payloads, in.Payload)
	}
	return payloads
}

// Pipe ends the effect for an entity: it is [Driver.Pipe] of a record with that
// key into the topic of outcomes, which the topology reads as o. The effect's own
// DecodeOutcome is not called; to have it called, pipe bytes into the topic.
func (e *Effect[P]) Pipe(entity string, o topology.Outcome[P]) {
	e.d.t.Helper()
	if err := e.TryPipe(entity, o); err != nil {
		e.d.t.Fatalf("topologytest: %v", err)
	}
}

// TryPipe is [Effect.Pipe] that returns errors as [Driver.TryPipe] does.
func (e *Effect[P]) TryPipe(entity string, o topology.Outcome[P]) error {
	e.d.t.Helper()
	if !e.topics.Read {
		e.d.t.Fatalf("topologytest: effect %s: its outcomes are not read", e.topics.Effect)
	}
	rec := topology.Record{Key: []byte(entity)}
	rec.Topic, rec.Partition = e.topics.Outcomes, e.d.partition(e.topics.Outcomes, rec.Key)
	e.d.tap.Outcome = o
	return e.d.TryPipe(rec)
}
