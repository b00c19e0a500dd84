package eos

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// position is where a partition goes on after a transaction.
type position struct {
	next        int64
	leaderEpoch int32
}

// batch is records of one claim, in offset order; size is the bytes of their
// keys and values.
type batch struct {
	claim   *claim
	records []*kgo.Record
	size    int
}

func newBatch(c *claim, records []*kgo.Record) batch {
	b := batch{claim: c, records: records}
	for _, r := range records {
		b.size += len(r.Key) + len(r.Value)
	}
	return b
}

// cut parts the batch before record n.
func (b batch) cut(n int) (head, tail batch) {
	head = newBatch(b.claim, b.records[:n])
	return head, batch{claim: b.claim, records: b.records[n:], size: b.size - head.size}
}

// origin ties an output to the input record it came from: it travels as the
// output's Context, so that a refused output names its input.
type origin struct {
	context.Context //nolint:containedctx // a Context is what an output can carry
	txn             *txn
	claim           *claim
	record          *kgo.Record
}

// txn is the content of one transaction.
//
// Owner: the lane's process goroutine while the slot fills, its slot worker
// from the close on; the hand-over is lane.mu. Only fail is shared.
type txn struct {
	// ctx ends when the transaction is doomed: nothing waits for its outputs
	// any more.
	ctx    context.Context //nolint:containedctx // its life is the transaction's
	cancel context.CancelFunc

	number  uint64 // grows from transaction to transaction of a lane
	inputs  []batch
	next    map[*claim]position
	held    held
	opened  time.Time // AddOffsetsToTxn was asked for
	first   time.Time // the first record was taken; zero before
	records int
	bytes   int
	outputs int
	busy    time.Duration

	flush, offsets, end time.Duration
	reason              Reason
	err                 error

	fail struct {
		sync.Mutex
		first   error
		inDoubt bool
		blamed  []blame
	}
}

// blame is an input record and the output of it that was not taken.
type blame struct {
	claim  *claim
	offset int64
	output *kgo.Record
	err    error
}

// held is what may not be produced yet.
type held struct {
	outputs []*kgo.Record
	bytes   int
}

func newTxn(ctx context.Context, number uint64, now time.Time) *txn {
	t := &txn{number: number, next: map[*claim]position{}, opened: now}
	t.ctx, t.cancel = context.WithCancel(ctx)
	return t
}

// add books processed records.
func (t *txn) add(b batch) {
	if len(b.records) == 0 {
		return
	}
	t.inputs = append(t.inputs, b)
	t.records += len(b.records)
	t.bytes += b.size
	last := b.records[len(b.records)-1]
	t.next[b.claim] = position{next: last.Offset + 1, leaderEpoch: last.LeaderEpoch}
}

// failed books an output that was not taken, and says whether it is the first.
func (t *txn) failed(o *origin, r *kgo.Record, err error) bool {
	t.fail.Lock()
	defer t.fail.Unlock()
	first := t.fail.first == nil
	if first {
		t.fail.first = err
	}
	switch {
	case refusedForGood(err):
		t.fail.blamed = append(t.fail.blamed, blame{claim: o.claim, offset: o.record.Offset, output: r, err: err})
	case errors.Is(err, kgo.ErrAborting), errors.Is(err, context.Canceled),
		errors.Is(err, kerr.ProducerFenced), errors.Is(err, kerr.InvalidProducerEpoch):
		// Not in the log, or in a transaction that is over.
	default:
		t.fail.inDoubt = true
	}
	return first
}

// age is the time since the first record.
func (t *txn) age() time.Duration {
	if t.first.IsZero() {
		return 0
	}
	return time.Since(t.first)
}

// drop books that outputs were thrown away because t is being aborted; it can
// not commit without them.
func (t *txn) drop() {
	t.fail.Lock()
	defer t.fail.Unlock()
	if t.fail.first == nil {
		t.fail.first = kgo.ErrAborting
	}
}

// produced is how the outputs of the transaction fared: all acknowledged, or
// why not.
func (t *txn) produced() (result, Reason, error) {
	t.fail.Lock()
	defer t.fail.Unlock()
	switch err := t.fail.first; {
	case err == nil:
		return resultOK, ReasonNone, nil
	case t.fail.inDoubt:
		return resultUnknown, ReasonNoAnswer, err
	case errors.Is(err, kerr.ProducerFenced), errors.Is(err, kerr.InvalidProducerEpoch):
		return resultFenced, ReasonTakeover, err
	default:
		return resultRefused, ReasonProduce, err
	}
}
