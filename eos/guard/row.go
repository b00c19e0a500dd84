package guard

import "time"

// State is where one effect stands.
type State int8

// The states, and how an effect moves between them:
//
//	intended ──claim──► in flight ──done──────────► done
//	   ▲  ▲                │  │  └──rejected───────► rejected
//	   │  └──not sent──────┘  └──no answer, lease───► uncertain ──class, budget──► parked
//	   │                                              │  ▲  │
//	   │                              same key again ─┘  │  └─asked: found───────► done
//	   └──────────── asked: absent, and still after the settling time
//
// The whole table is [Row.Claim], [Row.Finish] and [Row.Answer], and for people
// [Row.Resolve], [Row.Park] and [Row.Unpark].
const (
	// Intended: it has not been sent, or is proved absent.
	Intended State = iota + 1
	// InFlight: a worker may send it, or has. Written before the first byte
	// leaves.
	InFlight
	// Uncertain: it may have happened.
	Uncertain
	// Done: it has happened.
	Done
	// Rejected: the receiver refused it for good.
	Rejected
	// Parked: it waits for a person. It blocks what comes behind it.
	Parked
	// Superseded: a newer one of its entity stands for it.
	Superseded
)

var stateNames = map[State]string{
	Intended: "intended", InFlight: "in_flight", Uncertain: "uncertain", Done: "done",
	Rejected: "rejected", Parked: "parked", Superseded: "superseded",
}

// String is the name in lower case, as ledgers and commands show it.
func (s State) String() string { return stateNames[s] }

// Over says whether nothing more will happen without a person, and nothing waits
// behind it.
func (s State) Over() bool { return s == Done || s == Rejected || s == Superseded }

// Why says why an effect is parked or rejected, in one word.
type Why string

// The reasons.
const (
	WhyNone       Why = ""
	WhyUnknown    Why = "outcome_unknown"      // of an effect that must not repeat
	WhyBudget     Why = "attempts_spent"       // and no proof that it is there
	WhyTooOld     Why = "too_old"              // older than the marks that are kept; never sent
	WhyConflict   Why = "key_used_differently" // the remote knows the key with other content
	WhyContradict Why = "refused_after_doubt"  // refused now, perhaps done before
	WhyOperator   Why = "parked_by_operator"
)

// Row is what a ledger keeps of one effect that is not over. It changes only by
// the methods below; a ledger writes the result if the row still has the token
// that was read, and else drops it.
type Row struct {
	State State
	Why   Why
	// Token grows with every change of hands. Whoever holds an older one is too
	// late.
	Token uint64
	// LeaseUntil: until then the row belongs to the worker with Token.
	LeaseUntil time.Time
	// NotBefore: nobody takes the row earlier.
	NotBefore time.Time
	// Doubts are the attempts that may have reached the receiver, and FirstSent
	// is when the first of them was claimed. Proof that the effect is absent
	// takes both back to zero.
	Doubts    int
	FirstSent time.Time
	// Attempts counts against [Policy.Attempts]; InVain are the tries in a row
	// that came to nothing: not sent, found busy, or asked without an answer.
	Attempts, InVain int
	// AbsentSince is when the receiver first said that it does not have it, with
	// nothing sent since; zero before.
	AbsentSince time.Time
}

// Policy is what the class and the contract of an effect say about its rows.
type Policy struct {
	Class Class
	// Window is how long after the first attempt a keyed remote is sure to know
	// the key. The whole lease of a further attempt must lie within it.
	Window time.Duration
	// Settle is how long an effect that is absent must stay so, to count as not
	// having happened: longer than the receiver may take to act on a request.
	Settle time.Duration
	// Attempts is how often one effect may be sent; at least 1.
	Attempts int
	// Backoff gives the wait after n tries without an end; n is at least 1.
	Backoff func(n int) time.Duration
}

// Work is what the holder of a claimed row does now.
type Work int8

// The kinds of work.
const (
	Nothing Work = iota // not claimed: the row is not due, or was parked just now
	Send                // perform it, under the key it always has
	Ask                 // look it up
)

var workNames = [...]string{"nothing", "send", "ask"}

// String is the name in lower case.
func (w Work) String() string { return workNames[w] }
