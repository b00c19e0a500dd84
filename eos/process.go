package eos

import (
	"context"
	"time"
)

// todo is what the process goroutine does next.
type todo struct {
	kind  todoKind
	slot  *slot
	batch batch
	until time.Time // todoWait: when to look again; zero: at the next change
}

type todoKind int8

const (
	todoWait   todoKind = iota
	todoReplay          // rewind to what did not commit
	todoHand            // hand held outputs to the producer
	todoWork            // give records to the handler
)

// process is the lane's process goroutine: the only one that calls the handler,
// begins and closes transactions and rewinds.
func (l *lane) process(ctx context.Context, fn Handler) {
	w := worker{lane: l, fn: fn, out: Out{lane: l.number}}
	for ctx.Err() == nil {
		l.attention.Store(false)
		l.mu.Lock()
		do := l.nextLocked(time.Now())
		l.mu.Unlock()
		switch do.kind {
		case todoWait:
			l.sleep(ctx, do.until)
		case todoReplay:
			l.rewind(ctx)
		case todoHand:
			do.slot.produce(do.slot.txn, do.slot.txn.held.outputs)
			do.slot.txn.held = held{}
		case todoWork:
			w.work(ctx, do.slot, do.batch)
		}
	}
}

func (l *lane) sleep(ctx context.Context, until time.Time) {
	var due <-chan time.Time
	if !until.IsZero() {
		t := time.NewTimer(time.Until(until))
		defer t.Stop()
		due = t.C
	}
	select {
	case <-ctx.Done():
	case <-l.wake:
	case <-due:
	}
}

// nextLocked decides, and opens or closes transactions where it is time.
func (l *lane) nextLocked(now time.Time) todo {
	if l.replay != nil {
		return todo{kind: todoReplay}
	}
	due := l.unparkLocked(now)
	work := !l.draining && l.frontLocked()
	for at := l.machine.filling; at >= 0 && l.shouldCloseLocked(l.slots[at].txn, now, work); at = l.machine.filling {
		l.closeLocked(l.slots[at].txn, now)
	}
	if l.closeNow {
		l.closeNow = false
		l.notifyLocked()
	}
	if work && l.machine.filling < 0 {
		l.handleLocked(event{kind: eventBegin})
	}
	at := l.machine.filling
	if at < 0 {
		return todo{until: due}
	}
	s := l.slots[at]
	switch {
	case s.released && len(s.txn.held.outputs) > 0:
		return todo{kind: todoHand, slot: s}
	case work && (s.released || l.mayHold(s.txn)):
		return l.takeLocked(s, now)
	}
	return todo{until: earliest(due, l.closeTime(s.txn, work))}
}

// takeLocked hands out the current batch for the slot's transaction. With the
// first record of a steady stream the transaction that comes next is opened,
// too: the round trips of opening it are over when it is needed.
func (l *lane) takeLocked(s *slot, now time.Time) todo {
	if s.txn.first.IsZero() {
		s.txn.first = now
		l.alarm.Reset(l.engine.cfg.CommitInterval)
		if now.Sub(l.closedAt) < l.engine.cfg.CommitInterval {
			l.handleLocked(event{kind: eventAhead})
		}
	}
	b := l.current
	l.current, l.working = batch{}, b.claim
	return todo{kind: todoWork, slot: s, batch: b}
}

func (l *lane) closeLocked(t *txn, now time.Time) {
	if t.records > 0 {
		l.closedAt = now
	}
	l.handleLocked(event{kind: eventClose})
}

// mayHold bounds what is processed ahead of the predecessor's flush: half a
// transaction. With less, a flush that takes longer than a commit interval, as
// it does when brokers are milliseconds away, would set the pace.
func (l *lane) mayHold(t *txn) bool {
	return len(t.held.outputs) < l.engine.cfg.MaxRecords/2 && t.held.bytes < l.engine.cfg.MaxBytes/2
}

// shouldCloseLocked: a revoke, a shutdown or a recovery asks for it, the
// transaction is full or old enough, or the input has stalled and the minimum
// age has passed.
func (l *lane) shouldCloseLocked(t *txn, now time.Time, work bool) bool {
	cfg := &l.engine.cfg
	return l.closeNow || l.machine.recovering || t.records >= cfg.MaxRecords || t.bytes >= cfg.MaxBytes ||
		!now.Before(l.closeTime(t, work))
}

// closeTime: with the input stalled a transaction is closed early only while
// another slot can take over. Closed behind a full line it would wait for its
// turn, and take no more records meanwhile. One without records is ended when
// none have come for a commit interval.
func (l *lane) closeTime(t *txn, work bool) time.Time {
	cfg := &l.engine.cfg
	switch {
	case t.first.IsZero():
		// It began to fill when the one in front was closed, unless that took so
		// long that it nears its own time-out.
		idle := t.opened.Add(cfg.CommitInterval)
		if l.closedAt.After(t.opened) {
			idle = l.closedAt.Add(cfg.CommitInterval)
		}
		return earliest(idle, t.opened.Add(cfg.TransactionTimeout/2))
	case work, l.machine.ahead < 0 && len(l.machine.line) == len(l.slots):
		return t.first.Add(cfg.CommitInterval)
	}
	return t.first.Add(cfg.MinAge)
}

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

// frontLocked makes current the next batch that may be processed; false when
// there is none. Batches of leaving partitions are dropped, those behind a
// record that waits for its retry join it.
func (l *lane) frontLocked() bool {
	for {
		c := l.current.claim
		switch {
		case c == nil || len(l.current.records) == 0 || c.leaving:
		case len(c.parked) > 0:
			c.parked = append(c.parked, l.current)
		default:
			return true
		}
		b, ok := l.queue.pop()
		l.current = b
		if !ok {
			return false
		}
	}
}

// unparkLocked puts due batches back in front, and gives the time of the next
// one that is not due.
func (l *lane) unparkLocked(now time.Time) time.Time {
	var next time.Time
	for c := range l.parked {
		if now.Before(c.retryAt) {
			next = earliest(next, c.retryAt)
			continue
		}
		delete(l.parked, c)
		l.putBackLocked(c.unpark())
	}
	return next
}

// putBackLocked puts batches in front of the one in hand.
func (l *lane) putBackLocked(bs []batch) {
	if len(l.current.records) > 0 {
		l.queue.pushFront(l.current)
	}
	l.current = batch{}
	l.queue.pushFront(bs...)
}

// enqueue takes what a poll brought.
func (l *lane) enqueue(polled []fetched) {
	n := 0
	for _, f := range polled {
		n += len(f.records)
	}
	if n > 0 {
		l.engine.observe(Event{Kind: Polled, Lane: l.number, Records: n})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range polled {
		f.claim.end = max(f.claim.end, f.end)
		if n := len(f.records); n > 0 {
			f.claim.polled = f.records[n-1].Offset + 1
		}
		if len(f.records) > 0 && !f.claim.leaving {
			l.queue.push(newBatch(f.claim, f.records))
		}
	}
	l.call()
}

// awaitRoom waits until the queue is below its bounds.
func (l *lane) awaitRoom(ctx context.Context) bool {
	cfg := &l.engine.cfg
	return l.await(ctx, func() bool { return l.queue.records < cfg.QueueRecords && l.queue.bytes < cfg.QueueBytes })
}
