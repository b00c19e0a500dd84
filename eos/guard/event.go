package guard

import (
	"errors"
	"fmt"
	"time"
)

// Source is the contract with those who send events: who gives an operation its
// identity, and how long a repeat may come. It is written down in code because
// every guarantee of the boundary rests on it.
type Source[P any] struct {
	// Name scopes identities: equal ids of two sources never collide. Renaming
	// it makes every operation new. 1 to 256 bytes of printable UTF-8.
	Name string
	// IssuedBy names the system, or the team, that issues the ids. Required.
	IssuedBy string
	// Lives is how long after IssuedAt the sender may still repeat an operation
	// under its id. Required, above 0.
	Lives time.Duration
	// IssuedAt gives the time at which the sender made the operation: a repeat
	// carries the same. nil: unknown, and marks of this source are kept for ever,
	// since a repeat's own time says nothing about its age.
	IssuedAt func(P) time.Time
	// RepeatsMayChange says that the sender corrects itself under an id that is
	// in use. It changes what an operator reads about a conflict, never what is
	// done: other significant content under a known key is not applied.
	RepeatsMayChange bool
}

// Codec turns a payload into bytes and back. Every topology.Serde is one.
type Codec[P any] interface {
	// Append appends the bytes of p to dst.
	Append(dst []byte, p P) ([]byte, error)
	// Decode reads a payload.
	Decode(data []byte) (P, error)
}

// Event is how the identity and the fingerprint of an operation are read off a
// payload. Make it with [Identify] or [IdentifyByOrigin]. It is safe for use by
// many goroutines when its functions are.
type Event[P any] struct {
	source      Source[P]
	codec       Codec[P]
	op          func(P) Op
	byOrigin    bool
	action      string // of events identified by origin
	significant func(P) []any
}

// Identify says what identifies an operation, and which of its fields make a
// repeat a conflict. op and significant are pure: they are called more than once
// for a payload, and a payload that gives two answers is refused with
// [ErrUnstable].
//
// What is missing is reported by [Event.Check].
func Identify[P any](source Source[P], codec Codec[P], op func(P) Op, significant func(P) []any) Event[P] {
	return Event[P]{source: source, codec: codec, op: op, significant: significant}
}

// IdentifyByOrigin identifies an operation by the place of its record in Kafka
// and the action alone. It is a weaker claim and is printed as such: redelivery
// by Kafka is recognised, a sender that sends twice is not.
func IdentifyByOrigin[P any](source Source[P], codec Codec[P], action string, significant func(P) []any) Event[P] {
	return Event[P]{source: source, codec: codec, byOrigin: true, action: action, significant: significant}
}

// ByOrigin says whether the place of the record is the identity.
func (e Event[P]) ByOrigin() bool { return e.byOrigin }

// Source is the contract.
func (e Event[P]) Source() Source[P] { return e.source }

// Identity is what one payload comes to.
type Identity struct {
	Key         Key
	Entity      string // effects of one entity keep their order; the origin's text for events identified by it
	Fingerprint Fingerprint
	IssuedAt    time.Time // zero: the source does not say
}

var (
	// ErrUnstable: one payload gave two identities or fingerprints. Something in
	// it comes from this run: a clock, a random id, a counter.
	ErrUnstable = errors.New("identity is not stable")
	// ErrIdentity: a payload has no valid identity or fingerprint.
	ErrIdentity = errors.New("no valid identity")
)

// Of computes the identity of p, twice. The error matches [ErrIdentity] or
// [ErrUnstable]; nothing may be performed then.
func (e Event[P]) Of(p P, origin Origin) (Identity, error) {
	first, err := e.once(p, origin)
	if err != nil {
		return Identity{}, err
	}
	second, err := e.once(p, origin)
	if err != nil {
		return Identity{}, err
	}
	switch {
	case first.Key != second.Key:
		return Identity{}, e.fault(ErrUnstable, fmt.Errorf("one payload gave the keys %s and %s", first.Key, second.Key))
	case first.Fingerprint != second.Fingerprint:
		return Identity{}, e.fault(ErrUnstable, fmt.Errorf("the significant fields of %s changed between two looks", first.Key))
	case !first.IssuedAt.Equal(second.IssuedAt):
		return Identity{}, e.fault(ErrUnstable, fmt.Errorf("IssuedAt of %s changed between two looks: %v and %v", first.Key, first.IssuedAt, second.IssuedAt))
	}
	return first, nil
}

func (e Event[P]) once(p P, origin Origin) (id Identity, err error) {
	defer func() {
		if r := recover(); r != nil {
			id, err = Identity{}, e.fault(ErrIdentity, fmt.Errorf("panic: %v", r))
		}
	}()
	if e.byOrigin {
		id.Key, id.Entity = keyOfRecord(e.source.Name, e.action, origin), origin.String()
	} else {
		op := e.op(p)
		if err := op.fault(); err != nil {
			return Identity{}, e.fault(ErrIdentity, err)
		}
		id.Key, id.Entity = keyOf(e.source.Name, op), op.entity
	}
	if id.Fingerprint, err = fingerprintOf(e.significant(p)); err != nil {
		return Identity{}, e.fault(ErrIdentity, err)
	}
	if e.source.IssuedAt != nil {
		if id.IssuedAt = e.source.IssuedAt(p); id.IssuedAt.IsZero() {
			return Identity{}, e.fault(ErrIdentity, fmt.Errorf("IssuedAt of %s is the zero time", id.Key))
		}
	}
	return id, nil
}

func (e Event[P]) fault(kind, cause error) error {
	return fmt.Errorf("guard: source %s: %w: %w", shown(e.source.Name), kind, cause)
}

// Check returns everything that is wrong with the declaration, joined. Types of
// significant fields are seen by a call with a zero payload; one that panics
// says nothing, and is judged at the first record.
func (e Event[P]) Check() error {
	var faults []error
	need := func(ok bool, text string) {
		if !ok {
			faults = append(faults, fmt.Errorf("source %s: %s", shown(e.source.Name), text))
		}
	}
	if err := named("name", e.source.Name); err != nil {
		need(false, err.Error())
	}
	need(e.source.IssuedBy != "", "it does not say who issues the ids (IssuedBy)")
	need(e.source.Lives > 0, "it does not say how long the sender repeats (Lives)")
	need(e.codec != nil, "its codec is nil")
	need(e.byOrigin || e.op != nil, "it has no function that names the operation")
	if err := named("action", e.action); e.byOrigin && err != nil {
		need(false, err.Error())
	}
	need(e.significant != nil, "it has no function that gives the significant fields")
	if e.significant != nil {
		if err := e.probe(); err != nil {
			need(false, err.Error())
		}
	}
	return errors.Join(faults...)
}

func (e Event[P]) probe() (err error) {
	defer func() { _ = recover() }()
	var zero P
	_, err = fingerprintOf(e.significant(zero))
	return err
}
