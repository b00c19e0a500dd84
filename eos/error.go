package eos

import (
	"errors"
	"fmt"
	"strings"
)

// The conditions Run and New end with. Each is the Cause of an *Error and is
// matched by errors.Is.
var (
	// ErrConfig: a setting is missing, out of range or refused. Mend it.
	ErrConfig = errors.New("bad configuration")
	// ErrUnreachable: no broker answered within the deadline.
	ErrUnreachable = errors.New("brokers unreachable")
	// ErrFenced: another process runs under this member's identity. Do not
	// restart in a loop; find the other process.
	ErrFenced = errors.New("fenced by another process with the same instance id")
	// ErrTopic: an input topic is missing, was deleted or was made anew.
	ErrTopic = errors.New("input topic unusable")
	// ErrOffsetsLost: the committed offsets are gone, are older than the
	// oldest record, or moved while the application ran.
	ErrOffsetsLost = errors.New("offsets lost")
	// ErrUnauthorized: the broker refuses a topic, the group or the
	// transactional ids.
	ErrUnauthorized = errors.New("not authorised")
	// ErrRefused: the broker will never take an output. Unwraps to *Refusal.
	ErrRefused = errors.New("output refused")
	// ErrHandler: the handler returned an error, panicked, or takes longer
	// than a transaction may last.
	ErrHandler = errors.New("handler failed")
	// ErrBroker: the cluster answered with something that is neither a retry
	// nor a known condition.
	ErrBroker = errors.New("unexpected broker answer")
	// ErrDrain: the deadline passed before every transaction had ended. The
	// broker aborts what is left; nothing is lost or doubled.
	ErrDrain = errors.New("shutdown deadline passed")
)

// Error is what New and Run return: the condition, where it happened, and what
// to do about it, in one line.
type Error struct {
	// Cause is one of the Err… values.
	Cause error
	// Topic is empty, Partition and Offset are -1, where they do not apply.
	Topic     string
	Partition int32
	Offset    int64
	// What happened, and what the reader should Do.
	What, Do string
	// Err is the error underneath, may be nil.
	Err error
}

func newError(cause error, what, do string, err error) *Error {
	return &Error{Cause: cause, Partition: -1, Offset: -1, What: what, Do: do, Err: err}
}

// at adds the coordinates.
func (e *Error) at(topic string, partition int32, offset int64) *Error {
	e.Topic, e.Partition, e.Offset = topic, partition, offset
	return e
}

// Error prints "eos: orders[1]@42: what: cause; do".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("eos: ")
	if e.Topic != "" {
		b.WriteString(e.Topic)
		if e.Partition >= 0 {
			fmt.Fprintf(&b, "[%d]", e.Partition)
		}
		if e.Offset >= 0 {
			fmt.Fprintf(&b, "@%d", e.Offset)
		}
		b.WriteString(": ")
	}
	b.WriteString(e.What)
	if e.Err != nil {
		b.WriteString(": ")
		b.WriteString(strings.TrimSuffix(e.Err.Error(), ".")) // Kafka's texts end with one
	}
	if e.Do != "" {
		b.WriteString("; ")
		b.WriteString(e.Do)
	}
	return b.String()
}

// Unwrap gives the condition and the error underneath.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Cause}
	}
	return []error{e.Cause, e.Err}
}
