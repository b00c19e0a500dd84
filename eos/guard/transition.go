package guard

import "time"

// Claim takes a row for lease, if there is something to do with it at now. Send
// and Ask leave the row with a new token, and nothing may be sent before it is
// written. With Nothing the row may have changed too: when its class or its
// budget parks it.
//
// An expired lease is an unknown outcome, never "not sent": its worker may have
// been stopped behind the first byte.
func (r Row) Claim(p Policy, now time.Time, lease time.Duration) (Row, Work) {
	if now.Before(r.NotBefore) || now.Before(r.LeaseUntil) {
		return r, Nothing
	}
	switch r.State {
	case Intended:
		return r.send(now, lease), Send
	case InFlight:
		return r.doubt().Claim(p, now, lease)
	case Uncertain:
		return r.clarify(p, now, lease)
	case Done, Rejected, Parked, Superseded:
	}
	return r, Nothing
}

// send books an attempt before it is made.
func (r Row) send(now time.Time, lease time.Duration) Row {
	if r.Doubts == 0 {
		r.FirstSent = now
	}
	r.State, r.AbsentSince = InFlight, time.Time{}
	r.Doubts++
	r.Attempts++
	return r.take(now, lease)
}

func (r Row) take(now time.Time, lease time.Duration) Row {
	r.Token++
	r.LeaseUntil = now.Add(lease)
	return r
}

func (r Row) doubt() Row {
	r.State, r.LeaseUntil = Uncertain, time.Time{}
	return r
}

// clarify is what the class does about an unknown outcome.
func (r Row) clarify(p Policy, now time.Time, lease time.Duration) (Row, Work) {
	switch p.Class {
	case ClassTransactional, ClassNatural, ClassConditional, ClassAtLeastOnce:
		if r.Attempts < p.Attempts {
			return r.send(now, lease), Send
		}
		return r.park(WhyBudget), Nothing
	case ClassKeyed:
		if r.Attempts < p.Attempts && now.Add(lease).Before(r.FirstSent.Add(p.Window)) && r.AbsentSince.IsZero() {
			return r.send(now, lease), Send
		}
		return r.take(now, lease), Ask
	case ClassReconciled:
		return r.take(now, lease), Ask
	case ClassAtMostOnce:
	}
	return r.park(WhyUnknown), Nothing
}

func (r Row) park(why Why) Row {
	r.State, r.Why = Parked, why
	r.Token++
	r.LeaseUntil, r.NotBefore = time.Time{}, time.Time{}
	return r
}

// Verdict is what a sender learned.
type Verdict int8

// The verdicts. One that is in doubt is [Unclear].
const (
	Unclear    Verdict = iota // no answer, or one that leaves it open
	Performed                 // done, now or by an earlier attempt under the same key
	Refused                   // a definite no
	Unsent                    // not a byte of the request left, or the receiver says that it did not act
	Busy                      // the receiver is still at work on an earlier attempt under the same key
	Mismatched                // the receiver knows the key with other content
)

var verdictNames = [...]string{"unclear", "performed", "refused", "unsent", "busy", "mismatched"}

// String is the name in lower case.
func (v Verdict) String() string { return verdictNames[v] }

// Finish books what became of an attempt. wait is what the receiver asked for;
// 0 means the policy's backoff. The row must be in flight under the token of the
// attempt.
func (r Row) Finish(p Policy, v Verdict, now time.Time, wait time.Duration) Row {
	r.LeaseUntil = time.Time{}
	switch v {
	case Performed:
		r.State = Done
	case Mismatched:
		return r.park(WhyConflict)
	case Refused:
		return r.refused(p, now)
	case Unsent:
		return r.unsent(p, now, wait)
	case Busy:
		return r.busy(p, now, wait)
	case Unclear:
		r.State = Uncertain
		r.NotBefore = now.Add(max(wait, p.Backoff(max(1, r.Attempts))))
	}
	r.InVain = 0
	return r
}

// refused: a no to this attempt says nothing of an earlier one in doubt, since it
// may come from something in front of what keeps the keys. A keyed remote is
// asked: what is absent is sent again, and then the no is all there is.
func (r Row) refused(p Policy, now time.Time) Row {
	r.InVain = 0
	switch {
	case r.Doubts <= 1:
		r.State = Rejected
	case p.Class == ClassKeyed:
		r.State, r.AbsentSince = Uncertain, now
	default:
		return r.park(WhyContradict)
	}
	return r
}

// busy: the earlier attempt counts, until the receiver has said so too often.
func (r Row) busy(p Policy, now time.Time, wait time.Duration) Row {
	r.State = Uncertain
	if r.InVain++; r.InVain < p.Attempts {
		r.Attempts--
	}
	r.NotBefore = now.Add(max(wait, p.Backoff(r.InVain)))
	return r
}

// unsent takes back an attempt that was booked and not made. What an earlier one
// left in doubt stays in doubt.
func (r Row) unsent(p Policy, now time.Time, wait time.Duration) Row {
	r.Attempts--
	r.Doubts--
	r.InVain++
	r.State = Uncertain
	if r.Doubts == 0 {
		r = r.absent()
	}
	r.NotBefore = now.Add(max(wait, p.Backoff(r.InVain)))
	return r
}

// absent: no attempt can have an effect any more.
func (r Row) absent() Row {
	r.State, r.Why = Intended, WhyNone
	r.Doubts, r.FirstSent, r.AbsentSince, r.NotBefore = 0, time.Time{}, time.Time{}, time.Time{}
	return r
}

// Found is what a look-up said.
type Found int8

// The answers.
const (
	NoAnswer Found = iota // the receiver could not be asked, or does not know
	There                 // it has the effect
	Absent                // it does not have it
)

var foundNames = [...]string{"no answer", "there", "absent"}

// String is the name in lower case.
func (f Found) String() string { return foundNames[f] }

// Answer books a look-up that was asked at. The row must be uncertain under the
// token of the claim. Absent counts once it has been so for the settling time:
// a request may still be on its way.
func (r Row) Answer(p Policy, f Found, asked, now time.Time) Row {
	r.LeaseUntil = time.Time{}
	switch f {
	case There:
		r.State = Done
	case NoAnswer:
		r.InVain++
		r.NotBefore = now.Add(p.Backoff(r.InVain))
		return r
	case Absent:
		switch {
		case r.AbsentSince.IsZero():
			r.AbsentSince = asked
			r.NotBefore = asked.Add(p.Settle)
		case asked.Before(r.AbsentSince.Add(p.Settle)):
			r.NotBefore = r.AbsentSince.Add(p.Settle)
		case r.Attempts >= p.Attempts:
			return r.park(WhyBudget)
		default:
			r = r.absent()
		}
	}
	r.InVain = 0
	return r
}
