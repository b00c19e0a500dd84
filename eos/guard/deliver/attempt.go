package deliver

import (
	"context"
	"errors"
	"time"

	"github.com/weirstream/weir/eos/guard"
)

// ledgerTimeout bounds one request to the ledger.
const ledgerTimeout = 10 * time.Second

// claim takes what is due, as much as may be under way at once, and performs it.
//
// A request to the ledger is never cut off by a shutdown: a claim that nobody
// knows of is an effect in doubt. life is that of the attempts.
func (w *Worker) claim(life context.Context, now time.Time) {
	n := w.free()
	if len(w.results) > 0 { // a claim may take what they are about from ourselves
		return
	}
	if n <= 0 || now.Before(w.claimAt) || now.Before(w.brake.until) {
		return
	}
	ctx, cancel := context.WithTimeout(life, ledgerTimeout)
	defer cancel()
	claimed, err := w.cfg.Ledger.Claim(ctx, w.name(), w.delivery, n)
	if err != nil {
		w.claimAt = w.ledgerFailed("effects cannot be claimed", err)
		return
	}
	w.ledgerBad = 0
	if len(claimed) < n {
		w.claimAt = now.Add(w.cfg.Poll)
	}
	w.running += len(claimed)
	for _, c := range claimed {
		go w.attempt(life, c, now) // ends with its time-out; counted in running
	}
}

// attempt performs or asks, within the lease that began no earlier than since.
func (w *Worker) attempt(life context.Context, c guard.Claimed, since time.Time) {
	deadline := since.Add(w.delivery.Lease)
	if own := time.Now().Add(w.delivery.Timeout); own.Before(deadline) {
		deadline = own
	}
	ctx, cancel := context.WithDeadline(life, deadline)
	defer cancel()
	call := guard.Call{Key: c.Key, Sum: c.Sum, Attempt: c.Row.Attempts}
	f := guard.Finished{Claimed: c, Began: time.Now()}
	switch {
	case ctx.Err() != nil && c.Work == guard.Ask:
		f.Answer = guard.Answer{Found: guard.NoAnswer, Detail: lateDetail}
	case ctx.Err() != nil:
		f.Reply = guard.Reply{Verdict: guard.Unsent, Detail: lateDetail}
	case c.Work == guard.Ask:
		f.Answer = w.cfg.Effect.Find(ctx, call, c.Payload)
	default:
		f.Reply = w.cfg.Effect.Perform(ctx, call, c.Payload)
	}
	f.Ended = time.Now()
	w.done <- f // has room for all that are under way
}

const lateDetail = "the process stood still past the lease; nothing was sent"

// book writes results to the ledger, and hands on what has ended.
func (w *Worker) book(background context.Context, now time.Time) {
	if len(w.results) == 0 || now.Before(w.bookAt) {
		return
	}
	ctx, cancel := context.WithTimeout(background, ledgerTimeout)
	defer cancel()
	booked, err := w.cfg.Ledger.Finish(ctx, w.name(), w.delivery, w.results)
	if err != nil {
		w.bookAt = w.ledgerFailed("the outcome of attempts cannot be booked", err)
		return
	}
	w.ledgerBad = 0
	var outcomes [][]byte
	for i, b := range booked {
		f := w.results[i]
		w.cfg.Observe(Event{
			Effect: w.name(), Work: f.Work, Verdict: f.Reply.Verdict, Found: f.Answer.Found,
			Took: f.Ended.Sub(f.Began), Fenced: b.Fenced, State: b.State,
		})
		w.tell(f, b)
		if b.Outcome != nil {
			outcomes = append(outcomes, b.Outcome)
		}
	}
	w.results = nil
	w.claimAt = time.Time{} // what stood behind them may be due now
	w.announce(outcomes)
}

// tell logs what a person may have to act on.
func (w *Worker) tell(f guard.Finished, b guard.Booked) {
	_, detail := f.Said()
	switch {
	case b.Fenced:
		w.cfg.Log.Warn("what came of an attempt was not booked: it was before, or its lease is over and another worker has the effect", "key", f.Key, "attempt", f.Row.Attempts, "detail", detail)
	case b.State == guard.Parked:
		w.cfg.Log.Warn("an effect is parked and waits for a person", "key", f.Key, "attempt", f.Row.Attempts, "detail", detail)
	}
}

func (w *Worker) announce(outcomes [][]byte) {
	if len(outcomes) > 0 && w.cfg.Announce != nil {
		w.cfg.Announce(outcomes)
	}
}

// sweepBatch bounds the outcomes that are announced again at once.
const sweepBatch = 500

// sweep announces what was announced once and did not arrive, and what ended
// without a worker: superseded, or resolved by a person.
func (w *Worker) sweep(ctx context.Context, now time.Time) {
	if ctx.Err() != nil || now.Before(w.sweepAt) {
		return
	}
	w.sweepAt = now.Add(w.cfg.AnnounceAfter)
	if w.cfg.Announce == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, ledgerTimeout)
	defer cancel()
	outcomes, err := w.cfg.Ledger.Unpublished(ctx, w.name(), w.cfg.AnnounceAfter, sweepBatch)
	switch {
	case errors.Is(ctx.Err(), context.Canceled): // a shutdown
		return
	case err != nil:
		w.sweepAt = w.ledgerFailed("outcomes cannot be read", err)
		return
	}
	w.announce(outcomes)
}

// ledgerFailed gives the time of the next try.
func (w *Worker) ledgerFailed(what string, err error) time.Time {
	w.ledgerBad++
	w.cfg.Log.Warn("the ledger fails; trying again", "what", what, "error", err, "failures", w.ledgerBad)
	return time.Now().Add(min(100*time.Millisecond<<min(w.ledgerBad, 6), 5*time.Second))
}

func (w *Worker) name() string { return w.cfg.Effect.EffectName() }
