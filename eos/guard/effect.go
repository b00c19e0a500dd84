package guard

import (
	"errors"
	"fmt"
	"time"
)

// Effect is one kind of effect on payloads P: what identifies it, its class, and
// who performs it. A sink's package makes it with one of the constructors below,
// one for each class; what a class cannot do without is a parameter.
//
// An Effect is immutable and safe for use by many goroutines when the functions
// in it are. [New] checks it.
type Effect[P any] struct {
	name     string
	class    Class
	event    Event[P]
	do       Do[P]
	lookup   Lookup[P]
	contract Contract
	settle   time.Duration
	waiver   Waiver
	delivery delivery
}

func newEffect[P any](name string, class Class, event Event[P], do Do[P], opts []Option) *Effect[P] {
	e := &Effect[P]{name: name, class: class, event: event, do: do, delivery: defaults()}
	for _, opt := range opts {
		if opt != nil {
			opt(&e.delivery)
		}
	}
	return e
}

// Natural makes an effect that changes nothing when it is done again. Nobody but
// its author can know that: probe it by applying it twice.
func Natural[P any](name string, event Event[P], do Do[P], opts ...Option) *Effect[P] {
	return newEffect(name, ClassNatural, event, do, opts)
}

// Conditional makes an effect whose receiver refuses a stale or repeated write
// by a condition, such as If-Match. do reports a write that was refused because
// this or a newer one is there as [Performed].
func Conditional[P any](name string, event Event[P], do Do[P], opts ...Option) *Effect[P] {
	return newEffect(name, ClassConditional, event, do, opts)
}

// Keyed makes an effect on a remote that recognises [Call.Sum] as its
// idempotency key, as contract says. lookup clarifies what is in doubt outside
// of the contract's window; absent must stay so for settle.
func Keyed[P any](name string, event Event[P], contract Contract, do Do[P], lookup Lookup[P], settle time.Duration, opts ...Option) *Effect[P] {
	e := newEffect(name, ClassKeyed, event, do, opts)
	if contract.Margin == 0 {
		contract.Margin = time.Minute
	}
	e.contract, e.lookup, e.settle = contract, lookup, settle
	return e
}

// Reconciled makes an effect on a remote that knows no key but can be asked:
// what is in doubt is asked for before it is sent again. settle is longer than
// the remote may take to act on a request.
func Reconciled[P any](name string, event Event[P], do Do[P], lookup Lookup[P], settle time.Duration, opts ...Option) *Effect[P] {
	e := newEffect(name, ClassReconciled, event, do, opts)
	e.lookup, e.settle = lookup, settle
	return e
}

// AtMostOnce makes an effect that must not repeat and cannot be asked for: mail,
// a printer. In doubt it is parked for a person.
func AtMostOnce[P any](name string, event Event[P], do Do[P], opts ...Option) *Effect[P] {
	return newEffect(name, ClassAtMostOnce, event, do, opts)
}

// AtLeastOnce makes an effect that may be doubled, which waiver accepts.
func AtLeastOnce[P any](name string, event Event[P], waiver Waiver, do Do[P], opts ...Option) *Effect[P] {
	e := newEffect(name, ClassAtLeastOnce, event, do, opts)
	e.waiver = waiver
	return e
}

// EffectName is the name: part of every mark and of the intents' topic. Renaming
// an effect makes all of its operations new.
func (e *Effect[P]) EffectName() string { return e.name }

// Guarantee is what the class promises and what happens in doubt, in a few words
// each, for descriptions.
func (e *Effect[P]) Guarantee() (class, claim, onUnknown string) {
	claim = e.class.Claim()
	if e.event.byOrigin {
		claim += "; redelivery by Kafka only"
	}
	return e.class.String(), claim, e.class.OnUnknown()
}

// AppendIntent appends the intent to perform the effect for p, which was made for
// the record at an offset of a topic, and gives what intents are partitioned by:
// source and entity. ordinal counts the intents of this effect for that record,
// from 0. The error matches [ErrIdentity] or [ErrUnstable]. An effect that is
// identified by its origin has one intent for each record: a second one would be
// taken for a repeat.
func (e *Effect[P]) AppendIntent(dst []byte, p P, topic string, topicID [16]byte, partition int32, offset int64, ordinal int32) (by string, intent []byte, err error) {
	in := Intent{
		Effect: e.name, Ordinal: ordinal,
		Origin: Origin{Topic: topic, TopicID: topicID, Partition: partition, Offset: offset},
	}
	if e.event.byOrigin && ordinal > 0 {
		return "", nil, e.event.fault(ErrIdentity,
			fmt.Errorf("effect %s is emitted twice for one record, which is all that identifies it: use Identify, or an effect for each", e.name))
	}
	if in.Identity, err = e.event.Of(p, in.Origin); err != nil {
		return "", nil, err
	}
	if in.Payload, err = e.event.codec.Append([]byte{}, p); err != nil {
		return "", nil, fmt.Errorf("guard: effect %s: encode the payload of %s: %w", e.name, in.Identity.Key, err)
	}
	return in.By(), appendIntent(dst, in), nil
}

// check returns everything that is wrong with the declaration.
func (e *Effect[P]) check() error {
	var faults []error
	need := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("effect %s: "+format, append([]any{shown(e.name)}, args...)...))
		}
	}
	if bad := badName(e.name); bad != "" {
		need(false, "its name %s", bad)
	}
	if err := e.event.Check(); err != nil {
		need(false, "%w", err)
	}
	need(e.do != nil, "it has no function that performs it")
	e.delivery.faults(need)
	switch e.class {
	case ClassKeyed:
		need(e.contract.Remote != "", "its contract does not name the remote")
		need(e.contract.Window > e.contract.Margin, "its contract knows a key for %v, less than its margin of %v: say how long the remote keeps keys", e.contract.Window, e.contract.Margin)
		need(e.contract.Window <= e.contract.Margin || e.delivery.span() <= e.contract.Window-e.contract.Margin,
			"its %d attempts may take %v, and the remote knows a key for %v: lower Attempts, Lease or Backoff", e.delivery.attempts, e.delivery.span(), e.contract.Window)
		e.needLookup(need)
	case ClassReconciled:
		e.needLookup(need)
	case ClassAtLeastOnce:
		need(e.waiver.Owner != "" && e.waiver.Reason != "" && !e.waiver.Until.IsZero(),
			"it may be doubled: its waiver has to say who accepts that, why, and until when it holds")
	case ClassTransactional, ClassNatural, ClassConditional, ClassAtMostOnce:
	}
	return errors.Join(faults...)
}

func (e *Effect[P]) needLookup(need func(ok bool, format string, args ...any)) {
	need(e.lookup != nil, "it has no look-up: how is an unknown outcome to become known?")
	need(e.settle > e.delivery.timeout, "it settles in %v: want more than Timeout (%v), so that a request on its way is not taken for absent", e.settle, e.delivery.timeout)
}

// maxName leaves room for the application id in the name of an intents' topic.
const maxName = 100

func badName(name string) string {
	if name == "" {
		return "is empty"
	}
	if len(name) > maxName {
		return fmt.Sprintf("has %d characters: at most %d are allowed", len(name), maxName)
	}
	for _, c := range name {
		ok := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-'
		if !ok {
			return fmt.Sprintf("has the character %q: only a-z, A-Z, 0-9, '.', '_' and '-' are allowed", c)
		}
	}
	return ""
}
