package guard

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Ledger keeps the rows of effects, durably: where an intent becomes a row, who
// holds it, and how it ended. It is the only arbiter between processes. A
// Ledger is safe for use by many goroutines and processes. Everything it does in
// one call, it does in one transaction of its own or not at all; an error means
// that nobody knows whether it did, and every call may be repeated.
//
// Times in rows are those of the ledger's clock.
type Ledger interface {
	// Own notes that effects belong to application, before anything else is asked
	// for them. Each that belongs to another one is a line of an error that matches
	// [ErrForeign].
	Own(ctx context.Context, application string, effects []string) error
	// Admit makes rows of intents of one effect, in their order, and says for each
	// what became of it. Behind it, the intents may be forgotten.
	Admit(ctx context.Context, effect string, intents []Intent) ([]Admitted, error)
	// Claim takes up to n effects that are due, by [Row.Claim] with the delivery's
	// policy and lease, and in the order of [Order.Line]. Effects that the claim
	// parks or supersedes are not returned; what those that ended publish is kept
	// for [Ledger.Unpublished].
	Claim(ctx context.Context, effect string, d Delivery, n int) ([]Claimed, error)
	// Finish books what became of claimed effects, by [Finished.Book]. One whose
	// claim does not hold the row any more changes nothing, and is Fenced.
	Finish(ctx context.Context, effect string, d Delivery, results []Finished) ([]Booked, error)
	// Publish says of each outcome whether it is for the record at Place to
	// publish it. It answers the same for a record that is processed again, and
	// yes for one Place only.
	Publish(ctx context.Context, effect string, outcomes []Announced) ([]bool, error)
	// Unpublished returns up to n outcomes that nobody has published and that are
	// older than age, oldest first, as [AppendOutcome] wrote them.
	Unpublished(ctx context.Context, effect string, age time.Duration, n int) ([][]byte, error)
}

// ErrForeign: an effect belongs to another application. Two that share marks would
// each take the other's effects for repeats of its own, and not perform them.
var ErrForeign = errors.New("it belongs to another application in this ledger")

// Foreign is the error of an effect that belongs to owner and not to application.
func Foreign(effect, owner, application string) error {
	return fmt.Errorf("guard: effect %s: %w, %s: rename it, or give %s a ledger of its own (if %s is %s under a new name, change the row of %s in weir.owner)",
		effect, ErrForeign, owner, application, application, owner, effect)
}

// Admission is what became of an intent.
type Admission int8

// The admissions.
const (
	// Fresh: it has a row now.
	Fresh Admission = iota + 1
	// Duplicate: its key is known with the same significant fields.
	Duplicate
	// Conflict: its key is known with other significant fields. Both versions are
	// kept for an operator; it is not performed.
	Conflict
	// SecondKey: its origin has another key already, so something in the key comes
	// from a run. It is kept for an operator and not performed.
	SecondKey
)

var admissionNames = [...]string{"", "fresh", "duplicate", "conflict", "second key"}

// String is the name in lower case.
func (a Admission) String() string { return admissionNames[a] }

// Admitted is an admission and, unless it is Fresh, the state of the effect that
// was there.
type Admitted struct {
	Admission Admission
	State     State
}

// Claimed is one effect in the hands of a worker.
type Claimed struct {
	Row     Row
	Work    Work
	Sum     Sum
	Key     Key
	Entity  string
	Payload []byte
}

// Finished is what a worker has to say about a claimed effect: Reply after
// [Send], Answer after [Ask].
type Finished struct {
	Claimed
	Reply  Reply
	Answer Answer
	// Began and Ended are those of the worker's own clock: only what is between
	// them, and between them and now, means anything to others.
	Began, Ended time.Time
}

// Booked is what became of a Finished.
type Booked struct {
	// Fenced: the claim did not hold the row any more. Another worker has it, or
	// the result was booked before, by a call whose answer was lost. Nothing
	// changed but the record of the attempt.
	Fenced bool
	State  State
	// Outcome is to be published, as [AppendOutcome] wrote it; nil: the effect is
	// not over.
	Outcome []byte
}

// Announced is an outcome at a place in the topic of intents.
type Announced struct {
	Sum   Sum
	Place Origin
}

// Book is what f makes of the row that the ledger has now: the row to write, or
// fenced. Only a row that f's claim still holds is changed, so that a result that
// is booked twice counts once. age is how long ago the work began, by the
// worker's clock.
func (f Finished) Book(r Row, p Policy, now time.Time, age time.Duration) (next Row, fenced bool) {
	switch {
	case r.Token != f.Row.Token || r.State != f.Row.State || r.LeaseUntil.IsZero():
		return r, true
	case f.Work == Ask:
		return r.Answer(p, f.Answer.Found, now.Add(-age), now), false
	}
	return r.Finish(p, f.Reply.Verdict, now, f.Reply.Wait), false
}

// Said is what the receiver said, in a word, and the detail for operators.
func (f Finished) Said() (said, detail string) {
	if f.Work == Ask {
		return f.Answer.Found.String(), f.Answer.Detail
	}
	return f.Reply.Verdict.String(), f.Reply.Detail
}

// Outcome is what is published when the effect ended as r says.
func (f Finished) Outcome(r Row) Outcome {
	o := Outcome{Sum: f.Sum, Key: f.Key, Entity: f.Entity, State: r.State, Why: r.Why, Payload: f.Payload}
	o.Result = f.Reply.Result
	if f.Work == Ask {
		o.Result = f.Answer.Result
	}
	return o
}
