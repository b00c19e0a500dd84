package guard

// Class says how an effect comes to happen once, and what is done when nobody
// knows whether it did.
type Class int8

// The classes. There is no default: each has a constructor of its own.
const (
	// ClassTransactional: mark and change are in one database transaction. A repeat
	// meets the mark.
	ClassTransactional Class = iota + 1
	// ClassNatural: doing it again changes nothing, as with an assignment or a delete.
	// Declared by the user, and probed by applying it twice.
	ClassNatural
	// ClassConditional: a stale or repeated write is refused by its condition, such as
	// a version. Newest wins.
	ClassConditional
	// ClassKeyed: the remote recognises the idempotency key within a window.
	ClassKeyed
	// ClassReconciled: the remote knows no key, but can be asked. It is asked before
	// anything is sent again.
	ClassReconciled
	// ClassAtMostOnce: it cannot be asked and must not repeat. An unknown outcome is
	// parked for a person.
	ClassAtMostOnce
	// ClassAtLeastOnce: it may repeat. It takes a waiver that says who accepts that.
	ClassAtLeastOnce
)

var classTexts = map[Class]struct{ name, claim, unknown string }{
	ClassTransactional: {"transactional", "exactly once", "run again: the mark tells"},
	ClassNatural:       {"natural", "exactly once in state", "repeated"},
	ClassConditional:   {"conditional", "once, newest wins", "repeated: the condition tells"},
	ClassKeyed:         {"keyed remote", "exactly once within the remote's window", "repeated with the same key, later asked for"},
	ClassReconciled:    {"reconcile only", "once, if the look-up is truthful", "asked for before it is repeated"},
	ClassAtMostOnce:    {"at most once", "may be lost, never doubled", "parked for a person"},
	ClassAtLeastOnce:   {"at least once", "may be doubled, accepted by its waiver", "repeated"},
}

// String is the name in lower case.
func (c Class) String() string { return classTexts[c].name }

// Claim is what the class promises, in a few words, as the guarantee table
// prints it.
func (c Class) Claim() string { return classTexts[c].claim }

// OnUnknown is what becomes of an effect whose outcome is unknown.
func (c Class) OnUnknown() string { return classTexts[c].unknown }
