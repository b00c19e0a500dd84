package deliver

import (
	"context"
	"log/slog"
	"time"

	"github.com/weirstream/weir/eos/guard"
)

// Config is what a Worker needs. Effect and Ledger are required.
type Config struct {
	Effect guard.Declared
	Ledger guard.Ledger
	// Announce hands on outcomes that are to be published, as
	// [guard.AppendOutcome] wrote them. It must not block. Nil: nobody reads
	// them. One that is lost is announced again, every AnnounceAfter.
	Announce      func(outcomes [][]byte)
	AnnounceAfter time.Duration // default 10 s
	// Poll is how often a ledger without anything due is asked. Default 250 ms.
	Poll time.Duration
	// Patience is how long a shutdown waits for attempts that are under way, and
	// for the ledger to take what came of them. Default 15 s. What is cut off is
	// uncertain.
	Patience time.Duration
	// Observe sees every attempt and look-up. Nil: nobody does.
	Observe func(Event)
	// Log gets a line for what a person may have to act on. Nil: slog.Default().
	Log *slog.Logger
}

// Event is one attempt or look-up that was booked.
type Event struct {
	Effect  string
	Work    guard.Work
	Verdict guard.Verdict // of an attempt
	Found   guard.Found   // of a look-up
	Took    time.Duration
	// Fenced: it was booked before, or took longer than its lease.
	Fenced bool
	// State is the one it is in now.
	State guard.State
}

// Worker performs the effects of one name. Any number of Workers, in any number
// of processes, may share a ledger.
type Worker struct {
	cfg      Config
	delivery guard.Delivery
	nudge    chan struct{}
	done     chan guard.Finished

	// What follows is owned by Run's goroutine.
	running   int
	results   []guard.Finished // came and not booked
	brake     brake
	claimAt   time.Time // the next look into the ledger
	bookAt    time.Time // the next try to book results
	sweepAt   time.Time // the next look for outcomes that nobody published
	ledgerBad int       // failures of the ledger in a row
}

// New returns a Worker; Run starts it.
func New(cfg Config) *Worker {
	if cfg.AnnounceAfter == 0 {
		cfg.AnnounceAfter = 10 * time.Second
	}
	if cfg.Poll == 0 {
		cfg.Poll = 250 * time.Millisecond
	}
	if cfg.Patience == 0 {
		cfg.Patience = 15 * time.Second
	}
	if cfg.Observe == nil {
		cfg.Observe = func(Event) {}
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	d := cfg.Effect.Delivery()
	d.Outcomes = cfg.Announce != nil
	cfg.Log = cfg.Log.With("effect", cfg.Effect.EffectName())
	return &Worker{
		cfg: cfg, delivery: d, brake: brake{backoff: d.Policy.Backoff},
		nudge: make(chan struct{}, 1), done: make(chan guard.Finished, d.InFlight),
	}
}

// Nudge says that the ledger has something new. It never blocks and may be called
// from any goroutine.
func (w *Worker) Nudge() {
	select {
	case w.nudge <- struct{}{}:
	default:
	}
}

// Run delivers until ctx ends, then waits for what is under way, at most
// Config.Patience. A ledger that fails is tried again for as long as ctx lives.
func (w *Worker) Run(ctx context.Context) {
	background := context.WithoutCancel(ctx)
	attempts, cut := context.WithCancel(background)
	defer cut()
	for ctx.Err() == nil {
		now := time.Now()
		w.book(background, now)
		if ctx.Err() == nil {
			w.claim(attempts, now)
		}
		w.sweep(ctx, now)
		w.wait(ctx, w.due())
	}
	w.drain(background, cut)
}

// wait sleeps until a result comes, somebody nudges, or the time is due.
func (w *Worker) wait(ctx context.Context, due time.Time) {
	t := time.NewTimer(time.Until(due))
	defer t.Stop()
	select {
	case <-ctx.Done():
	case f := <-w.done:
		w.collect(f)
	case <-w.nudge:
		w.claimAt = time.Time{}
	case <-t.C:
	}
}

// due is when there is something to do next without anything happening.
func (w *Worker) due() time.Time {
	at := w.sweepAt
	if len(w.results) > 0 && w.bookAt.Before(at) {
		at = w.bookAt
	}
	if from := later(w.claimAt, w.brake.until); len(w.results) == 0 && w.free() > 0 && from.Before(at) {
		at = from
	}
	return at
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// free is how many may be claimed. Results that the ledger has not taken count:
// their leases are running. While the brake probes, one may be under way in all.
func (w *Worker) free() int {
	most := w.delivery.InFlight
	if w.brake.probing() {
		most = 1
	}
	return most - w.running - len(w.results)
}

// collect takes one result and all others that have come.
func (w *Worker) collect(f guard.Finished) {
	for {
		w.running--
		w.results = append(w.results, f)
		w.brake.saw(f, time.Now())
		select {
		case f = <-w.done:
		default:
			return
		}
	}
}

// cutOff is how long an attempt that is cut off has to return.
const cutOff = time.Second

// drain books what is under way when nothing new is taken any more. What is not
// over at the end of patience is cut off, and what came of that is booked, too.
func (w *Worker) drain(background context.Context, cut func()) {
	w.gather(background, w.cfg.Patience)
	if w.running > 0 {
		cut()
		w.gather(background, cutOff)
	}
	if n := w.running + len(w.results); n > 0 {
		w.cfg.Log.Warn("stopped with attempts whose outcome is not booked; they are uncertain when their leases end", "attempts", n)
	}
}

// gather waits for attempts and books them, for so long.
func (w *Worker) gather(background context.Context, patience time.Duration) {
	ctx, cancel := context.WithTimeout(background, patience)
	defer cancel()
	for ctx.Err() == nil && w.running+len(w.results) > 0 {
		w.book(ctx, time.Now())
		switch {
		case len(w.results) > 0:
			w.wait(ctx, w.bookAt)
		case w.running > 0: // a result or the end of patience wakes it
			w.wait(ctx, time.Now().Add(patience))
		}
	}
}
