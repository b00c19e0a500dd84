package guard

import (
	"errors"
	"fmt"
	"time"
)

// ErrHeld: a worker has the effect right now; try again when its lease is over.
var ErrHeld = errors.New("a worker holds the effect")

// ErrState: the effect is in a state that does not allow it.
var ErrState = errors.New("the state of the effect does not allow it")

// Resolve is a person's word on what happened: to is Done, Rejected (it did not
// and shall not happen), or Intended (it did not happen and shall be sent, with a
// new budget). The effect must be uncertain or parked, and one that is too old
// can not be sent any more. Workers that held the row before are too late.
func (r Row) Resolve(to State, now time.Time) (Row, error) {
	if err := r.free(now, Uncertain, Parked); err != nil {
		return r, err
	}
	switch {
	case to == Intended && r.Why == WhyTooOld:
		return r, fmt.Errorf("%w: it is older than the marks that are kept, so nobody knows whether it was done: resolve it as done or rejected", ErrState)
	case to == Intended:
		r = r.absent()
		r.Attempts, r.InVain = 0, 0
	case to == Done, to == Rejected:
		r.State, r.Why = to, WhyNone
	default:
		return r, fmt.Errorf("%w: cannot be resolved as %s", ErrState, to)
	}
	r.Token++
	return r, nil
}

// Park takes an effect out of delivery. What comes behind it waits.
func (r Row) Park(now time.Time) (Row, error) {
	if err := r.free(now, Intended, Uncertain); err != nil {
		return r, err
	}
	return r.park(WhyOperator), nil
}

// Unpark puts an effect back with a new budget: what is in doubt stays in doubt.
// One that is too old stays parked.
func (r Row) Unpark(now time.Time) (Row, error) {
	if err := r.free(now, Parked); err != nil {
		return r, err
	}
	if r.Why == WhyTooOld {
		return r, fmt.Errorf("%w: it is older than the marks that are kept: resolve it", ErrState)
	}
	r.State, r.Why = Intended, WhyNone
	if r.Doubts > 0 {
		r.State = Uncertain
	}
	r.Attempts, r.InVain = 0, 0
	r.Token++
	return r, nil
}

func (r Row) free(now time.Time, states ...State) error {
	if now.Before(r.LeaseUntil) {
		return fmt.Errorf("%w until %s", ErrHeld, r.LeaseUntil.UTC().Format(time.RFC3339))
	}
	for _, s := range states {
		if r.State == s {
			return nil
		}
	}
	return fmt.Errorf("%w: it is %s", ErrState, r.State)
}
