package eos

import "time"

// Kind names a step of the engine's life.
type Kind int8

// The steps an Observer sees. A transaction passes Polled, Opened, Flushed,
// OffsetsAccepted and Ended; an abort passes Aborting and Ended.
const (
	// Identified: every transactional.id of this member is initialised, which
	// fenced its predecessors. Nothing has joined the group yet.
	Identified Kind = iota
	// Polled: records reached a lane; no transaction has been begun for them.
	Polled
	// Opened: AddOffsetsToTxn was acknowledged, nothing has been produced.
	Opened
	// Flushed: every output is acknowledged; TxnOffsetCommit is not sent.
	Flushed
	// OffsetsAccepted: TxnOffsetCommit was answered; EndTxn is not sent.
	OffsetsAccepted
	// Aborting: EndTxn(abort) is about to be sent.
	Aborting
	// Answered: EndTxn was answered (Event.Outcome says what was asked for);
	// nothing has been booked in this process yet.
	Answered
	// Ended: the transaction is over and booked; Outcome and Reason are set.
	Ended
	// Reinitialised: a transactional.id was initialised again after an unknown
	// outcome, a fencing or an abort.
	Reinitialised
	// Assigned, Revoked, PartitionsLost: the group moved Partitions.
	Assigned
	Revoked
	PartitionsLost
	// PeerFenced: the open transaction TransactionalID of a dead peer, or of
	// this member's predecessor, was aborted.
	PeerFenced
	// OffsetsSkipped: Records records of a partition were gone before they
	// were processed (Config.OnLostOffsets).
	OffsetsSkipped
)

var kindNames = [...]string{
	"identified", "polled", "opened", "flushed", "offsets-accepted", "aborting", "answered", "ended",
	"reinitialised", "assigned", "revoked", "partitions-lost", "peer-fenced", "offsets-skipped",
}

// String returns the name in lower case.
func (k Kind) String() string { return kindNames[k] }

// Outcome is how a transaction ended, as far as this process knows.
type Outcome int8

const (
	// Committed: the broker said so.
	Committed Outcome = iota + 1
	// Aborted: the broker said so.
	Aborted
	// Unknown: an answer is missing. The id was initialised anew and the
	// committed offsets were read back; nothing was guessed.
	Unknown
	// Fenced: another producer took the transactional.id, or the broker ended
	// the transaction because it was older than its time-out.
	Fenced
)

var outcomeNames = [...]string{"none", "committed", "aborted", "unknown", "fenced"}

// String returns the name in lower case.
func (o Outcome) String() string { return outcomeNames[o] }

// Event is one step. Only the fields that apply are set.
type Event struct {
	Kind            Kind
	Lane, Slot      int
	TransactionalID string
	// Outcome and Reason are set for Answered and Ended. Reason is one of a
	// fixed set of lower-case words.
	Outcome Outcome
	Reason  Reason
	// Records, Bytes: input of the transaction; Outputs: records it wrote.
	Records, Bytes, Outputs int
	// Age is the time since the first record was taken, Busy the time spent
	// in the handler, Flush, Offsets and End the time of each step.
	Age, Busy, Flush, Offsets, End time.Duration
	// Partitions holds topic -> partitions for the group events.
	Partitions map[string][]int32
	// Err is the cause of an abort, an unknown outcome or a fencing.
	Err error
}

// Observer is called for every Event, synchronously, from the goroutine that
// made it, several at once, for some events with the lane's lock held. It must
// be quick and must not call the Engine, Status included.
type Observer interface {
	Observe(Event)
}

// ObserverFunc is a function as an Observer.
type ObserverFunc func(Event)

// Observe calls f.
func (f ObserverFunc) Observe(e Event) { f(e) }

// Reason says why a transaction did not commit, in one word.
type Reason string

// The reasons.
const (
	ReasonNone       Reason = ""
	ReasonLost       Reason = "partitions_lost"
	ReasonStamp      Reason = "ownership_moved"
	ReasonMembership Reason = "membership_refused"
	ReasonProduce    Reason = "produce_refused"
	ReasonCascade    Reason = "predecessor_failed"
	ReasonNoAnswer   Reason = "no_answer"
	ReasonLateCopy   Reason = "late_copy"
	ReasonTimedOut   Reason = "timed_out"
	ReasonTakeover   Reason = "taken_over"
	ReasonDeadline   Reason = "deadline"
	ReasonBroker     Reason = "broker_refused"
)
