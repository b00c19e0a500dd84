package eos

import (
	"context"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// slot is one transactional producer of a lane. Its worker goroutine carries
// out what the machine asks for, one request chain at a time.
//
// Owner of the fields without a lock: the worker. txn and released are guarded
// by lane.mu.
type slot struct {
	lane  *lane
	index int
	id    string

	// work has room for the one action a slot can be busy with.
	work chan action

	client *kgo.Client
	copies *copies
	pid    int64
	epoch  int16
	// begun: AddOffsetsToTxn was acknowledged, so exactly one outcome must
	// reach the wire.
	begun bool
	// fenced: the last transaction was refused as fenced; settle finds out why.
	fenced bool

	txn      *txn
	released bool

	// gate serialises handing outputs to the producer with the end of it.
	gate struct {
		sync.Mutex
		txn    *txn // whose outputs may pass; nil: none
		client *kgo.Client
	}
}

// run carries out actions until ctx ends, then closes the client.
// Started and awaited by lane.start and lane.stop.
func (s *slot) run(ctx context.Context) {
	defer s.discard()
	for {
		select {
		case <-ctx.Done():
			return
		case a := <-s.work:
			e := s.perform(ctx, a)
			if ctx.Err() != nil {
				return
			}
			s.lane.handle(e)
		}
	}
}

// perform is one busy phase.
func (s *slot) perform(ctx context.Context, a action) event {
	e := event{slot: s.index}
	var err error
	switch a.kind {
	case actionOpen:
		e.kind = eventOpened
		e.result, e.reason, err = s.open(ctx)
	case actionFlush:
		e.kind = eventFlushed
		e.result, e.reason, err = s.flush(ctx)
	case actionOffer:
		e.kind = eventOffered
		e.result, e.reason, err = s.offer(ctx)
	case actionCommit:
		e.kind = eventCommitted
		e.result, e.reason, err = s.commit(ctx)
	case actionAbort:
		e.kind = eventAborted
		e.result, e.reason, err = s.abort(ctx)
	case actionSettle:
		e.kind = eventSettled
		s.settle(ctx)
	case actionRelease, actionCancel, actionBook, actionReplay:
	}
	s.fenced = s.fenced || e.result == resultFenced
	if err != nil {
		s.lane.trouble(s, e, err)
	}
	return e
}

// startFilling lets the transaction's outputs through to the client.
func (s *slot) startFilling() {
	s.gate.Lock()
	defer s.gate.Unlock()
	s.gate.txn, s.gate.client = s.txn, s.client
}

// stopFilling makes produce drop what comes, after waking one that waits for
// room with the gate in hand.
func (s *slot) stopFilling() {
	if s.txn != nil {
		s.txn.cancel()
	}
	s.gate.Lock()
	defer s.gate.Unlock()
	s.gate.txn, s.gate.client = nil, nil
}

// produce hands the outputs of t to the producer, unless t is being aborted:
// then they are dropped, and their inputs come again.
func (s *slot) produce(t *txn, outs []*kgo.Record) {
	s.gate.Lock()
	defer s.gate.Unlock()
	if s.gate.txn != t {
		t.drop()
		return
	}
	for _, r := range outs {
		s.gate.client.Produce(t.ctx, r, s.acknowledged)
	}
}

// acknowledged is the promise of every output.
func (s *slot) acknowledged(r *kgo.Record, err error) {
	if err == nil {
		return
	}
	o, ok := r.Context.(*origin)
	invariant(ok, "an output without its origin")
	if o.txn.failed(o, r, err) {
		s.lane.doom(s.index, o.txn, ReasonProduce)
	}
}

// discard closes the client and sends nothing more from it.
func (s *slot) discard() {
	s.stopFilling()
	if s.client != nil {
		s.client.Close()
		s.client = nil
	}
	s.begun = false
}

// deadline bounds one busy phase. Longer than this the broker would abort the
// transaction anyway.
func (s *slot) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.lane.cfg().TransactionTimeout)
}
