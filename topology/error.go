package topology

import (
	"errors"
	"fmt"
)

var (
	// ErrInvalid is matched by every fault that [Builder.Build] and
	// [Topology.Resolve] report. The program has to be changed.
	ErrInvalid = errors.New("invalid topology")

	// ErrNull is returned by a [Serde] that has no value for null. On a value
	// it is a decode error; wrap the serde in [Nullable] to accept tombstones.
	// A null key passes: see [Source].
	ErrNull = errors.New("null where a value is required")

	// ErrUnknownTopic is matched when a record comes from a topic that the
	// topology does not read. It is a fault of the caller, not of the record.
	ErrUnknownTopic = errors.New("topic is not a source of the topology")
)

// fault is one mistake in a topology. It matches ErrInvalid.
type fault string

func (f fault) Error() string { return "topology: " + string(f) }

func (f fault) Is(target error) bool { return target == ErrInvalid }

func faultf(format string, args ...any) error {
	return fault(fmt.Sprintf(format, args...))
}

// Phase is the part of processing in which a record failed. An error policy is
// chosen per phase.
type Phase uint8

// The phases, in the order in which a record passes them.
const (
	PhaseDecode  Phase = iota + 1 // a source's serde refused the key or value
	PhaseProcess                  // a function of the user returned an error or panicked
	PhaseProduce                  // a sink's serde refused the key or value, or its topic is not a declared one
	PhaseEffect                   // an effect could not make the intent to perform it
)

// String returns "decode", "process", "produce" or "effect".
func (p Phase) String() string {
	switch p {
	case PhaseDecode:
		return "decode"
	case PhaseProcess:
		return "process"
	case PhaseProduce:
		return "produce"
	case PhaseEffect:
		return "effect"
	}
	return fmt.Sprintf("phase(%d)", uint8(p))
}

// RecordError says why one record could not be processed. It carries no
// coordinates of the record: the caller of [Runner.Process] knows them.
type RecordError struct {
	Phase    Phase
	Operator string // name of the operator; of a source or sink, its topic unless named
	Err      error
}

// Error returns the phase, the operator and the cause.
func (e *RecordError) Error() string {
	return fmt.Sprintf("%s in %q: %v", e.Phase, e.Operator, e.Err)
}

// Unwrap returns the cause.
func (e *RecordError) Unwrap() error { return e.Err }

// PanicError is the cause in a [RecordError] when code of the user panicked.
type PanicError struct {
	Value any    // what was passed to panic
	Stack []byte // stack of the panicking goroutine, as text; worth a log of its own
}

// Error returns the panic's value, without the stack: one line for a log or the
// header of a dead letter.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the panic's value if it is an error, else nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
