package guard

// Class says how an effect comes to happen once, and what is done when nobody
// knows whether it did.
type Class int8

// The classes. There is no default: each has a constructor of its own.
const (
	// Transactional: mark and change are in one database transaction. A repeat
	// meets the mark.
	Transactional Class = iota + 1
	// Natural: doing it again changes nothing, as with an assignment or a delete.
	// Declared by the user, and probed by applying it twice.
	Natural
	// Conditional: a stale or repeated write is refused by its condition, such as
	// a version. Newest wins.
	Conditional
	// Keyed: the remote recognises the idempotency key within a window.
	Keyed
	// Reconciled: the remote knows no key, but can be asked. It is asked before
	// anything is sent again.
	Reconciled
	// AtMostOnce: it cannot be asked and must not repeat. An unknown outcome is
	// parked for a person.
	AtMostOnce
	// AtLeastOnce: it may repeat. It takes a waiver that says who accepts that.
	AtLeastOnce
)

var classTexts = map[Class]struct{ name, claim, unknown string }{
	Transactional: {"transactional", "exactly once", "run again: the mark tells"},
	Natural:       {"natural", "exactly once in state", "repeated"},
	Conditional:   {"conditional", "once, newest wins", "repeated: the condition tells"},
	Keyed:         {"keyed remote", "exactly once within the remote's window", "repeated with the same key, later asked for"},
	Reconciled:    {"reconcile only", "once, if the look-up is truthful", "asked for before it is repeated"},
	AtMostOnce:    {"at most once", "may be lost, never doubled", "parked for a person"},
	AtLeastOnce:   {"at least once", "may be doubled, accepted by its waiver", "repeated"},
}

// String is the name in lower case.
func (c Class) String() string { return classTexts[c].name }

// Claim is what the class promises, in a few words, as the guarantee table
// prints it.
func (c Class) Claim() string { return classTexts[c].claim }

// OnUnknown is what becomes of an effect whose outcome is unknown.
func (c Class) OnUnknown() string { return classTexts[c].unknown }
