package eos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// rewind puts the records of every transaction that did not commit back in
// front of the queue: from memory, and after an unknown outcome from the
// committed offsets as the broker knows them. The group client is not involved:
// it has polled further, and goes on from there.
func (l *lane) rewind(ctx context.Context) {
	l.mu.Lock()
	readBack := l.replay.readBack
	l.mu.Unlock()
	var committed kadm.OffsetResponses
	if readBack {
		var ok bool
		if committed, ok = l.readBack(ctx); !ok {
			return
		}
	}
	l.mu.Lock()
	err := l.rewindLocked(committed)
	l.mu.Unlock()
	if err != nil {
		l.engine.fail(err)
	}
}

// readBack asks until it has an answer: nothing is processed before.
func (l *lane) readBack(ctx context.Context) (kadm.OffsetResponses, bool) {
	for {
		got, err := stableOffsets(ctx, l.member.admin(), l.engine.cfg.ApplicationID)
		if err == nil {
			return got, true
		}
		l.engine.log.Warn("committed offsets not read back, trying again", "error", err)
		if !pause(ctx, settlePause) {
			return nil, false
		}
	}
}

// rewindLocked also ends the recovery. After an error nothing is processed any
// more.
func (l *lane) rewindLocked(committed kadm.OffsetResponses) error {
	var failed []*txn
	for _, s := range l.slots {
		if s.txn != nil {
			failed = append(failed, s.txn)
			s.txn = nil
		}
	}
	slices.SortFunc(failed, func(a, b *txn) int { return cmp.Compare(a.number, b.number) })
	err := errors.Join(l.blameLocked(failed), checkCommitted(failed, committed))
	var again []batch
	claims := map[*claim]struct{}{}
	for _, t := range failed {
		for _, b := range t.inputs {
			if b = uncommitted(b, committed); len(b.records) > 0 && !b.claim.leaving {
				again = append(again, b)
				claims[b.claim] = struct{}{}
			}
		}
	}
	for c := range claims { // what waits for a retry comes behind what is replayed
		delete(l.parked, c)
		again = append(again, c.unpark()...)
	}
	l.putBackLocked(again)
	if err != nil {
		l.draining, l.closeNow = true, true
	}
	l.replay = nil
	l.handleLocked(event{kind: eventReplayed})
	return err
}

// checkCommitted compares the offsets read back with what this member sent:
// they lie between what it knows to be committed and what it tried to commit,
// unless somebody else moved them.
func checkCommitted(failed []*txn, committed kadm.OffsetResponses) error {
	tried := map[*claim]int64{}
	for _, t := range failed {
		for c, at := range t.next {
			tried[c] = max(tried[c], at.next)
		}
	}
	for c, last := range tried {
		o, ok := committed.Lookup(c.topic, c.id)
		if !ok || o.At < 0 || c.leaving || (o.At >= c.next && o.At <= last) {
			continue
		}
		return newError(ErrOffsetsLost,
			fmt.Sprintf("the committed offset was moved to %d while the application ran; this member was between %d and %d", o.At, c.next, last),
			"find who reset the group's offsets, stop every member first, then start again", nil).at(c.topic, c.id, o.At)
	}
	return nil
}

// uncommitted drops the records of b that are committed.
func uncommitted(b batch, committed kadm.OffsetResponses) batch {
	o, ok := committed.Lookup(b.claim.topic, b.claim.id)
	if !ok || o.At < 0 {
		return b
	}
	n, _ := slices.BinarySearchFunc(b.records, o.At, func(r *kgo.Record, at int64) int { return cmp.Compare(r.Offset, at) })
	if n > 0 {
		b.claim.next = max(b.claim.next, b.records[n-1].Offset+1)
	}
	_, tail := b.cut(n)
	return tail
}

// blameLocked remembers whose outputs were refused. A broker refuses whole
// batches: with more than one suspect each is produced alone next time, and
// only one refused alone is taken at its word.
func (l *lane) blameLocked(failed []*txn) error {
	type at struct {
		c      *claim
		offset int64
	}
	suspects := map[at]blame{}
	for _, t := range failed {
		for _, b := range t.fail.blamed {
			suspects[at{b.claim, b.offset}] = b
		}
	}
	for k, b := range suspects {
		_, alone := k.c.isolated[k.offset]
		_, before := k.c.refused[k.offset]
		refusal := &Refusal{Output: b.output, Err: b.err}
		switch {
		case before:
			return newError(ErrRefused, "what stands in for its refused output was refused, too", "mend the refusal handler", refusal).
				at(k.c.topic, k.c.id, k.offset)
		case alone || len(suspects) == 1:
			if k.c.refused == nil {
				k.c.refused = map[int64]*Refusal{}
			}
			k.c.refused[k.offset] = refusal
			delete(k.c.isolated, k.offset)
		default:
			if k.c.isolated == nil {
				k.c.isolated = map[int64]struct{}{}
			}
			k.c.isolated[k.offset] = struct{}{}
		}
	}
	return nil
}
