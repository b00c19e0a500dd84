package guard

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// receiver is a model of a remote that acts on requests, some of them late.
type receiver struct {
	keyed    bool
	window   time.Duration
	effects  int
	knownTil time.Time
	onTheWay []time.Time // when requests arrive
}

// reach lets what has arrived by now act.
func (r *receiver) reach(now time.Time) {
	rest := r.onTheWay[:0]
	for _, at := range r.onTheWay {
		if at.After(now) {
			rest = append(rest, at)
			continue
		}
		if r.keyed && at.Before(r.knownTil) {
			continue
		}
		r.effects++
		r.knownTil = at.Add(r.window)
	}
	r.onTheWay = rest
}

// walk is one effect, its row and workers that come, stall and die.
type walk struct {
	rng      *rand.Rand
	now      time.Time
	row      Row
	policy   Policy
	receiver receiver
	held     []attempt // claims that have not come back
	log      []noted
}

// noted is a step, as a failure shows it.
type noted struct {
	at   time.Time
	what string
	n    int
	row  Row
}

func (n noted) String() string {
	return fmt.Sprintf("\n%v %s %d: %+v", n.at.Sub(time.Unix(0, 0)), n.what, n.n, n.row)
}

type attempt struct {
	row   Row
	work  Work
	wakes time.Time // its worker is stopped until then
}

const (
	walkLease = 5 * time.Second
	walkDelay = 6 * time.Second // the longest way of a request
)

func newWalk(seed uint64, class Class) *walk {
	w := &walk{rng: rand.New(rand.NewPCG(seed, 1)), now: time.Unix(0, 0), row: Row{State: Intended}}
	const window = 30 * time.Second
	w.receiver = receiver{keyed: class == ClassKeyed, window: window}
	w.policy = Policy{
		Class: class, Window: window - walkDelay, Settle: walkDelay + time.Second, Attempts: 1 + w.rng.IntN(12),
		Backoff: func(n int) time.Duration { return time.Duration(n) * time.Second },
	}
	return w
}

func (w *walk) note(what string, n int) { w.log = append(w.log, noted{w.now, what, n, w.row}) }

// book books a result as a ledger does, and again, as a worker does whose answer
// from the ledger was lost.
func (w *walk) book(a attempt, v Verdict, found Found) {
	f := Finished{Claimed: Claimed{Row: a.row, Work: a.work}, Reply: Reply{Verdict: v}, Answer: Answer{Found: found}}
	for range 2 {
		if next, fenced := f.Book(w.row, w.policy, w.now, 0); !fenced {
			w.row = next
		}
	}
}

func (w *walk) step(faults bool) {
	w.now = w.now.Add(time.Duration(w.rng.IntN(1500)) * time.Millisecond)
	w.receiver.reach(w.now)
	if i := slices.IndexFunc(w.held, func(a attempt) bool { return !w.now.Before(a.wakes) }); i >= 0 && w.rng.IntN(3) > 0 {
		a := w.held[i]
		w.held = slices.Delete(w.held, i, i+1)
		w.act(a, faults)
		return
	}
	next, work := w.row.Claim(w.policy, w.now, walkLease)
	w.row = next
	if work != Nothing {
		a := attempt{row: next, work: work}
		if faults && w.rng.IntN(4) == 0 {
			a.wakes = w.now.Add(time.Duration(w.rng.IntN(60)) * time.Second)
		}
		w.held = append(w.held, a)
	}
	w.note("claim", int(work))
}

// act is what a worker does with its claim: at most what its lease allows.
func (w *walk) act(a attempt, faults bool) {
	fault := faults && w.rng.IntN(3) > 0
	switch {
	case a.work == Ask:
		answer := Absent
		switch {
		case fault:
			answer = NoAnswer
		case w.receiver.effects > 0:
			answer = There
		}
		w.book(a, Unclear, answer)
		w.note("asked", int(answer))
	case fault && w.rng.IntN(3) == 0: // it dies before or behind the first byte
		if w.now.Before(a.row.LeaseUntil) && w.rng.IntN(2) == 0 {
			w.send()
		}
		w.note("died", 0)
	case !w.now.Before(a.row.LeaseUntil), fault && w.rng.IntN(2) == 0:
		w.book(a, Unsent, NoAnswer)
		w.note("unsent", 0)
	case fault:
		if w.rng.IntN(4) > 0 { // the request or the answer is lost
			w.send()
		}
		w.book(a, Unclear, NoAnswer)
		w.note("no answer", 0)
	default:
		w.receiver.onTheWay = append(w.receiver.onTheWay, w.now)
		w.receiver.reach(w.now)
		w.book(a, Performed, NoAnswer)
		w.note("performed", 0)
	}
}

func (w *walk) send() {
	w.receiver.onTheWay = append(w.receiver.onTheWay, w.now.Add(time.Duration(w.rng.Int64N(int64(walkDelay)))))
}

func (w *walk) settled() bool { return w.row.State.Over() || w.row.State == Parked }

// TestNoClassBreaksItsClaimOnAnyWay walks each class through lost requests and
// answers, deaths, stalls beyond the lease and late arrivals, against a model of
// a receiver. The seed of a failure is printed.
func TestNoClassBreaksItsClaimOnAnyWay(t *testing.T) {
	t.Parallel()
	for _, class := range []Class{ClassNatural, ClassConditional, ClassKeyed, ClassReconciled, ClassAtMostOnce, ClassAtLeastOnce} {
		t.Run(class.String(), func(t *testing.T) {
			t.Parallel()
			ends := map[State]int{}
			for seed := range uint64(3_000) {
				w := newWalk(seed, class)
				for range 150 {
					w.step(true)
				}
				for n := 0; !w.settled(); n++ {
					require.Less(t, n, 1000, "seed %d does not end: %v", seed, w.log)
					w.step(false)
				}
				w.now = w.now.Add(time.Minute)
				w.receiver.reach(w.now)
				w.check(t, seed)
				ends[w.row.State]++
			}
			t.Log(ends)
		})
	}
}

func (w *walk) check(t *testing.T, seed uint64) {
	t.Helper()
	once := w.policy.Class == ClassKeyed || w.policy.Class == ClassReconciled || w.policy.Class == ClassAtMostOnce
	if once {
		require.LessOrEqual(t, w.receiver.effects, 1, "seed %d: %v", seed, w.log)
	}
	if w.row.State == Done {
		require.Positive(t, w.receiver.effects, "seed %d: %v", seed, w.log)
	}
	require.NotEqual(t, Rejected, w.row.State, "seed %d: nobody refused it", seed)
}
