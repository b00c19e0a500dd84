package topology

// Outcome is how an effect ended. Each has one, in no particular order, once it is
// over; a repeat or a contradiction of one has none of its own, and one that waits
// for a person has none yet.
type Outcome[P any] struct {
	Payload P      // what the effect was to be performed for
	Key     string // names the operation, as text
	// State is "done": it has happened; "rejected": it was refused for good and
	// has not happened; or "superseded": a newer one of its entity stands for it.
	State  string
	Why    string // the reason for State, "" if there is nothing to say
	Result []byte // what the receiver answered, nil for nothing
}

// Done reports whether the effect has happened.
func (o Outcome[P]) Done() bool { return o.State == "done" }

// Outcomes reads how effect ended, from the internal topic
// <application.id>-<effect name>-outcomes. The key of a record is the entity that
// the effect was about, as UTF-8 text. An outcome that effect cannot read is a
// decode error.
//
// A second Outcomes of the same effect and name is the same stream. Records of it
// must not come to an [Stream.Emit] of the same effect.
func Outcomes[P any](b *Builder, name string, effect Effect[P]) Stream[string, Outcome[P]] {
	if b == nil || b.built {
		return Stream[string, Outcome[P]]{}
	}
	n := &node{kind: kindOutcomes, name: name}
	declare(b, n, effect)
	for _, old := range b.nodes {
		if len(n.faults) > 0 || old.kind != kindOutcomes || old.effect != n.effect {
			continue
		}
		out, same := old.outlet.(*outlet[string, Outcome[P]])
		if same && old.name == name {
			return Stream[string, Outcome[P]]{b: b, n: old, out: out}
		}
		n.fault("the outcomes of effect " + quote(n.effect.name) + " are read twice under different names: use the stream of the first Outcomes")
	}
	b.put(n)
	s := newStream[string, Outcome[P]](b, n)
	n.outlet = s.out
	n.enter = func(x *run, rec *Record) error {
		o, err := outcomeOf(x, effect, rec.Value)
		if err != nil {
			return x.fail(valueError{err})
		}
		return s.push(x, string(rec.Key), o)
	}
	return s
}

// outcomeOf is what effect makes of data, or what a test has put in its place.
func outcomeOf[P any](x *run, effect Effect[P], data []byte) (o Outcome[P], err error) {
	if x.tap != nil && x.tap.Outcome != nil {
		given, ok := x.tap.Outcome.(Outcome[P])
		x.tap.Outcome = nil
		if ok {
			return given, nil
		}
	}
	o.Payload, o.Key, o.State, o.Why, o.Result, err = effect.DecodeOutcome(data)
	return o, err
}
