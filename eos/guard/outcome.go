package guard

import "fmt"

// Outcome is the end of one effect.
type Outcome struct {
	Sum    Sum
	Key    Key
	Entity string
	// State is Done, Rejected or Superseded.
	State State
	Why   Why
	// Result is what the receiver answered; nil if there is none.
	Result  []byte
	Payload []byte
}

// By is what the intent was partitioned by.
func (o Outcome) By() string { return by(o.Key.Source(), o.Entity) }

// AppendOutcome writes an outcome as it travels: first into the topic of the
// intents, where one record is chosen to publish it, then to that of the outcomes.
func AppendOutcome(dst []byte, o Outcome) []byte {
	dst = append(dst, schemeOutcome)
	dst = append(dst, o.Sum[:]...)
	dst = appendPart(dst, o.Key.clear)
	dst = appendPart(dst, o.Entity)
	dst = append(dst, byte(o.State))
	dst = appendPart(dst, string(o.Why))
	dst = appendPart(dst, string(o.Result))
	return append(dst, o.Payload...)
}

// IsOutcome tells an outcome from an intent, in a topic of intents.
func IsOutcome(record []byte) bool { return len(record) > 0 && record[0] == schemeOutcome }

// ParseOutcome is the inverse of [AppendOutcome]. An empty result comes back as
// nil. The error matches [ErrIntent].
func ParseOutcome(record []byte) (Outcome, error) {
	r := reader{rest: record}
	if r.byte("scheme") != schemeOutcome {
		return Outcome{}, fmt.Errorf("%w: nor an outcome: its scheme is unknown", ErrIntent)
	}
	var o Outcome
	r.fill("sum", o.Sum[:])
	o.Key.clear = r.part("key")
	o.Entity = r.part("entity")
	o.State = State(r.byte("state"))
	o.Why = Why(r.part("reason"))
	if result := r.part("result"); result != "" {
		o.Result = []byte(result)
	}
	o.Payload = r.rest
	return o, r.err
}

// DecodeOutcome reads an outcome of the effect: the payload that it was performed
// for, its key, the name of its [State], the reason and the result. The error
// matches [ErrIntent].
func (e *Effect[P]) DecodeOutcome(data []byte) (p P, key, state, why string, result []byte, err error) {
	o, err := ParseOutcome(data)
	if err != nil {
		return p, "", "", "", nil, err
	}
	if p, err = e.event.codec.Decode(o.Payload); err != nil {
		return p, "", "", "", nil, fmt.Errorf("%w: effect %s: the payload of an outcome cannot be read: %w", ErrIntent, e.name, err)
	}
	return p, o.Key.String(), o.State.String(), string(o.Why), o.Result, nil
}
