package eos

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// lane processes a fixed set of this member's partitions with transactional
// producers of its own.
//
// mu guards the machine, the queue, the claims' progress and which transaction
// a slot holds. Events come from three sides: the process goroutine (begin,
// close, replayed), the slot workers (results) and the group's callbacks
// (doom). No request and no handler runs under mu; the Observer does, for Ended,
// and logging. Lock order: member.mu and lane.mu are never held together;
// slot.gate comes after neither.
//
// A slot's txn is replaced under mu, by the process goroutine while nothing is
// under way for the slot; what goes to the slot's worker goes by its channel.
// Each of the two may therefore read its own slot.txn without mu.
type lane struct {
	engine *Engine
	member *member
	number int
	slots  []*slot
	recent recent

	// ctx is the life of everything the lane has under way.
	ctx    context.Context //nolint:containedctx // ends with stop
	cancel context.CancelFunc
	done   sync.WaitGroup // slot workers
	worked sync.WaitGroup // the process goroutine

	// attention tells the process goroutine to look at the state between two
	// records; wake does the same when it waits. One wake-up is enough for any
	// number of changes.
	attention atomic.Bool
	wake      chan struct{}

	// alarm calls attention when the filling transaction reaches its age.
	alarm *time.Timer

	mu           sync.Mutex
	machine      *machine
	transactions uint64 // opened so far
	queue        queue
	current      batch  // what is left of the batch in hand
	working      *claim // whose records are in the handler right now
	parked       map[*claim]struct{}
	replay       *action       // to be carried out by the process goroutine
	closeNow     bool          // close what is filling: revoke or drain
	draining     bool          // take no more records
	pausedAny    bool          // partitions of the lane are paused
	setbacks     int           // recoveries since the last commit
	closedAt     time.Time     // when a transaction with records was last closed
	abandoned    bool          // a slot can never end: nothing waits for the lane any more
	changed      chan struct{} // closed and made anew at every change: see await
}

func newLane(e *Engine, number int) *lane {
	l := &lane{
		engine: e, member: e.member, number: number,
		wake: make(chan struct{}, 1), changed: make(chan struct{}),
		machine: newMachine(e.cfg.Slots), parked: map[*claim]struct{}{},
	}
	l.alarm = time.AfterFunc(time.Hour, l.call)
	for i := range e.cfg.Slots {
		id := transactionalID{application: e.cfg.ApplicationID, member: e.member.id.instance, lane: number, slot: i}
		l.slots = append(l.slots, &slot{lane: l, index: i, id: id.String(), work: make(chan action, 1)})
	}
	return l
}

func (l *lane) cfg() *Config { return &l.engine.cfg }

// init initialises every id of the lane, which fences its predecessors.
func (l *lane) init(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, s := range l.slots {
		g.Go(func() error {
			err := until(ctx, stepInit, func() error { return s.init(ctx) })
			if classify(stepInit, err) == verdictFatal {
				return s.fatal(stepInit, err)
			}
			if err != nil {
				return l.member.startError("transactional id "+s.id+" cannot be initialised", err)
			}
			return nil
		})
	}
	return g.Wait()
}

// start begins the lane's goroutines; stop ends them.
func (l *lane) start(ctx context.Context, fn Handler) {
	l.ctx, l.cancel = context.WithCancel(ctx)
	for _, s := range l.slots {
		l.done.Go(func() { s.run(l.ctx) })
	}
	l.worked.Go(func() { l.process(l.ctx, fn) })
}

// A handler that has not returned by the deadline of the shutdown is left
// behind: what it stages goes nowhere.
func (l *lane) stop(drained bool) {
	l.cancel()
	l.alarm.Stop()
	l.done.Wait()
	if drained {
		l.worked.Wait()
	}
	for _, s := range l.slots {
		s.discard()
	}
}

// handle feeds one event to the machine and hands out its actions.
func (l *lane) handle(e event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.handleLocked(e)
}

func (l *lane) handleLocked(e event) {
	ended := l.endedByFailure(e)
	actions := l.machine.step(e)
	if len(actions) == 0 && (e.kind == eventBegin || e.kind == eventAhead) {
		return // no slot is free; a wake-up would only have the process goroutine ask again
	}
	for _, a := range actions {
		l.dispatchLocked(a)
	}
	if ended != nil {
		l.observeEnd(l.slots[e.slot], *ended)
	}
	l.notifyLocked()
}

func (l *lane) dispatchLocked(a action) {
	s := l.slots[a.slot]
	switch a.kind {
	case actionOpen:
		l.transactions++
		s.txn, s.released = newTxn(l.ctx, l.transactions, time.Now()), false
		s.work <- a
	case actionFlush, actionOffer, actionCommit, actionAbort, actionSettle:
		s.work <- a
	case actionRelease:
		s.released = true
	case actionCancel:
		s.txn.cancel()
	case actionBook:
		l.bookLocked(s)
	case actionReplay:
		l.replay = &a
	}
}

// bookLocked is the end of a committed transaction.
func (l *lane) bookLocked(s *slot) {
	if s.txn.records > 0 {
		l.engine.takeovers.Store(0)
		l.setbacks = 0
		l.observeEnd(s, Committed)
	}
	for c, at := range s.txn.next {
		c.next = max(c.next, at.next)
		c.forget(at.next)
	}
	s.txn.cancel()
	s.txn = nil
}

// endedByFailure is the outcome that a result brings, if it is not a commit.
func (l *lane) endedByFailure(e event) *Outcome {
	var o Outcome
	switch {
	case e.kind == eventAborted && e.result == resultOK:
		o = Aborted
	case e.kind == eventSettled && l.slots[e.slot].reasonLocked() == ReasonTakeover,
		e.kind == eventSettled && l.slots[e.slot].reasonLocked() == ReasonTimedOut:
		o = Fenced
	case e.kind == eventSettled:
		o = Unknown
	default:
		return nil
	}
	return &o
}

// reasonLocked is the most telling reason: what a step found, else why the
// machine doomed it.
func (s *slot) reasonLocked() Reason {
	if s.txn.reason != ReasonNone {
		return s.txn.reason
	}
	return s.lane.machine.slots[s.index].reason
}

func (l *lane) observeEnd(s *slot, o Outcome) {
	t := s.txn
	e := Event{
		Kind: Ended, Outcome: o, Records: t.records, Bytes: t.bytes, Outputs: t.outputs,
		Age: t.age(), Busy: t.busy, Flush: t.flush, Offsets: t.offsets, End: t.end,
	}
	if o != Committed {
		e.Reason, e.Err = s.reasonLocked(), t.err
	}
	s.observe(e)
}

// trouble books what a step met.
func (l *lane) trouble(s *slot, e event, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.txn.reason == ReasonNone {
		s.txn.reason, s.txn.err = e.reason, err
	}
	if !errors.Is(err, context.Canceled) {
		l.engine.log.Warn("transaction does not commit; its records are processed again",
			"transactional_id", s.id, "reason", e.reason, "error", err)
	}
}

// retag replaces the reason of a slot's end by what a closer look found.
func (l *lane) retag(s *slot, reason Reason) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.txn.reason = reason
}

// doom brings one transaction to an abort, if it is still the slot's.
func (l *lane) doom(index int, t *txn, reason Reason) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.slots[index].txn == t {
		l.handleLocked(event{kind: eventDoomed, slot: index, reason: reason})
	}
}

// doomed says whether a slot's transaction must not commit any more.
func (l *lane) doomed(index int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.machine.slots[index].doom != doomNone
}

// abandon lets a shutdown pass by a slot whose id is refused or another's.
func (l *lane) abandon() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.abandoned = true
	l.notifyLocked()
}

// doomAll brings every transaction of the lane to an abort.
func (l *lane) doomAll(reason Reason) {
	l.handle(event{kind: eventDoomAll, reason: reason})
}

// call makes the process goroutine look at the state.
func (l *lane) call() {
	l.attention.Store(true)
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// notifyLocked wakes everything that waits for a change.
func (l *lane) notifyLocked() {
	l.call()
	close(l.changed)
	l.changed = make(chan struct{})
}

// await waits until ok, called under mu, says so; false when ctx ended first.
func (l *lane) await(ctx context.Context, ok func() bool) bool {
	for {
		l.mu.Lock()
		done, changed := ok(), l.changed
		l.mu.Unlock()
		if done {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-changed:
		}
	}
}
