package guard

import (
	"context"
	"time"
)

// Call is what a performer is given with the payload: who it acts as, and until
// when. Only a delivery makes one, after the attempt is durable.
type Call struct {
	Key Key
	// Sum is what a remote is given as idempotency key; the same on every
	// attempt.
	Sum Sum
	// Attempt counts from 1.
	Attempt int
}

// Reply is what became of one attempt.
type Reply struct {
	Verdict Verdict
	// Result is kept and given out as the outcome, unless it is longer than 64
	// KiB. It is for Performed and Refused.
	Result []byte
	// Detail is one line for operators. It must hold no secret.
	Detail string
	// Wait is how long the receiver asked to be left alone; 0: it did not.
	Wait time.Duration
	// Pause says that the receiver takes nothing at all for now, from anybody:
	// the whole sink waits, and no other effect is tried.
	Pause bool
}

// Do performs an effect once. It must keep to ctx, whose deadline lies within
// the lease. A panic is an unclear outcome.
type Do[P any] func(ctx context.Context, call Call, p P) Reply

// Answer is what a look-up found.
type Answer struct {
	Found  Found
	Result []byte // of There
	Detail string
}

// Lookup asks the receiver whether it has the effect. It must change nothing.
type Lookup[P any] func(ctx context.Context, call Call, p P) Answer

// Contract is what a remote promises about idempotency keys. It is a promise of
// the remote's documentation, not of this package.
type Contract struct {
	// Remote names the API, for the guarantee table.
	Remote string
	// Window is how long the remote knows a key, at least. Required.
	Window time.Duration
	// Margin is taken off the window: the longest way of a request to the remote,
	// and what its clock may differ. Default: 1 minute.
	Margin time.Duration
}

// Waiver is the word of somebody who accepts that an effect may be doubled.
type Waiver struct {
	// Owner is who accepts it, Reason why. Both are required.
	Owner, Reason string
	// Until is when it has to be looked at again; required. Past it, an alarm is
	// raised; the application starts all the same.
	Until time.Time
}
