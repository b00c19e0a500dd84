package eos

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// chunk bounds how many records are processed between two looks at the lane.
const chunk = 1024

// worker calls the handler. Owner: the lane's process goroutine.
type worker struct {
	lane *lane
	fn   Handler
	out  Out
	// outputs are those of the chunk in hand.
	outputs int
}

// special is what is known about single records of a partition.
type special struct {
	apart   map[int64]struct{}
	refused map[int64]*Refusal
}

// work processes the head of b into the slot's transaction. What the handler
// staged for a record is released when the record has succeeded; a record that
// fails leaves nothing.
func (w *worker) work(ctx context.Context, s *slot, b batch) {
	start := time.Now()
	l, t := w.lane, s.txn
	sp, released := w.look(s, b.claim)
	slab := make([]origin, min(len(b.records), chunk))
	n, err := 0, w.ahead(b.records[:len(slab)])
	for err == nil && n < len(slab) {
		r := b.records[n]
		if !r.Attrs.IsControl() {
			slab[n] = origin{Context: l.ctx, txn: t, claim: b.claim, record: r}
			if err = w.one(ctx, s, &slab[n], sp, released); err != nil {
				break
			}
		}
		n++
		if l.attention.Load() {
			break
		}
	}
	w.book(t, b, n, time.Since(start), err)
}

func (w *worker) look(s *slot, c *claim) (sp special, released bool) {
	w.lane.mu.Lock()
	defer w.lane.mu.Unlock()
	if len(c.apart)+len(c.refused) > 0 {
		sp = special{apart: maps.Clone(c.apart), refused: maps.Clone(c.refused)}
	}
	return sp, s.released
}

// one processes one record and releases its outputs.
func (w *worker) one(ctx context.Context, s *slot, o *origin, sp special, released bool) error {
	w.out.Reset()
	refusal := sp.refused[o.record.Offset]
	if err := w.call(o.record, refusal); err != nil {
		return err
	}
	t := s.txn
	w.outputs += len(w.out.staged)
	for _, r := range w.out.staged {
		r.Context = o
		if w.lane.engine.cfg.OriginHeaders {
			addOrigin(r, o.record, w.lane.member.topicIDs[o.record.Topic])
		}
	}
	if _, apart := sp.apart[o.record.Offset]; apart && !s.settleProduced(ctx, t) {
		return nil // the transaction is doomed: the record comes again
	}
	if released && len(t.held.outputs) == 0 {
		s.produce(t, w.out.staged)
		return nil
	}
	// What is held goes first, even when the release came a moment ago.
	for _, r := range w.out.staged {
		t.held.bytes += len(r.Key) + len(r.Value)
	}
	t.held.outputs = append(t.held.outputs, w.out.staged...)
	return nil
}

// ahead shows records to Config.Ahead.
func (w *worker) ahead(rs []*kgo.Record) (err error) {
	if w.lane.engine.cfg.Ahead == nil {
		return nil
	}
	defer caught(&err)
	data := make([]*kgo.Record, 0, len(rs))
	for _, r := range rs {
		if !r.Attrs.IsControl() {
			data = append(data, r)
		}
	}
	if len(data) == 0 {
		return nil
	}
	return w.lane.engine.cfg.Ahead(w.lane.number, data)
}

// caught turns a panic of the user into an error.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}

// call runs the handler, or OnRefused for a record whose outputs are refused.
func (w *worker) call(r *kgo.Record, refusal *Refusal) (err error) {
	defer caught(&err)
	if refusal == nil {
		return w.fn(r, &w.out)
	}
	if w.lane.engine.cfg.OnRefused == nil {
		return refusal
	}
	return w.lane.engine.cfg.OnRefused(r, refusal, &w.out)
}

// book adds what was processed to the transaction, and decides what happens to
// the rest.
func (w *worker) book(t *txn, b batch, n int, took time.Duration, err error) {
	l := w.lane
	head, tail := b.cut(n)
	var later *retryLater
	l.mu.Lock()
	t.busy += took
	t.add(head)
	t.outputs, w.outputs = t.outputs+w.outputs, 0
	l.working = nil
	switch {
	case err == nil:
		l.current = tail
	case errors.As(err, &later):
		b.claim.park(tail, time.Now().Add(later.delay))
		l.parked[b.claim] = struct{}{}
	default:
		l.draining, l.closeNow = true, true
	}
	l.notifyLocked()
	l.mu.Unlock()
	if err != nil && later == nil {
		l.engine.fail(handlerError(b.records[n], err))
	}
}

func handlerError(r *kgo.Record, err error) error {
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return newError(ErrRefused, "its output cannot be written", "mend the output, or handle the refusal", err).at(r.Topic, r.Partition, r.Offset)
	}
	return newError(ErrHandler, "the handler failed", "mend the record or the handler; nothing of the record was written", err).at(r.Topic, r.Partition, r.Offset)
}

// settleProducedTimeout bounds the wait below: the handler's goroutine is in it.
const settleProducedTimeout = 3 * time.Second

// settleProduced waits until everything of the transaction so far is
// acknowledged; false when the transaction is doomed. It waits for the release
// first, since nothing may be sent before.
func (s *slot) settleProduced(ctx context.Context, t *txn) bool {
	l := s.lane
	ctx, cancel := context.WithTimeout(ctx, settleProducedTimeout)
	defer cancel()
	stop := context.AfterFunc(t.ctx, cancel)
	defer stop()
	ok := l.await(ctx, func() bool { return s.released || l.machine.slots[s.index].doom != doomNone })
	if !ok || l.doomed(s.index) {
		l.doom(s.index, t, ReasonNoAnswer)
		return false
	}
	s.produce(t, t.held.outputs)
	t.held = held{}
	s.gate.Lock()
	client, open := s.gate.client, s.gate.txn == t
	s.gate.Unlock()
	if open && client.Flush(ctx) == nil && !l.doomed(s.index) {
		return true
	}
	l.doom(s.index, t, ReasonNoAnswer)
	return false
}
