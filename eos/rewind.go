package eos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// rewind puts the records of every transaction that did not commit back in
// front of the queue: from memory, and after an unknown outcome from the
// committed offsets as the broker knows them. The group client is not involved:
// it has polled further, and goes on from there.
func (l *lane) rewind(ctx context.Context) {
	l.mu.Lock()
	readBack, claims := l.replay.readBack, l.unresolvedLocked()
	l.setbacks++
	wait := backoff(l.setbacks)
	l.mu.Unlock()
	if !pause(ctx, wait) {
		return
	}
	var committed map[partition]int64
	if readBack {
		var ok bool
		if committed, ok = l.readBack(ctx, claims); !ok {
			return
		}
	}
	l.absolve(ctx)
	l.mu.Lock()
	err := l.rewindLocked(committed)
	l.mu.Unlock()
	if err != nil {
		l.engine.fail(err)
	}
}

// backoff is the wait before records are repeated for the nth time without a
// commit between: none for the first.
func backoff(n int) time.Duration {
	if n <= 1 {
		return 0
	}
	return min(10*time.Millisecond<<min(n-2, 7), time.Second)
}

// unresolvedLocked are the claims with records in a transaction that did not
// commit.
func (l *lane) unresolvedLocked() map[*claim]struct{} {
	claims := map[*claim]struct{}{}
	for _, s := range l.slots {
		if s.txn == nil {
			continue
		}
		for c := range s.txn.next {
			claims[c] = struct{}{}
		}
	}
	return claims
}

// readBack asks until it has an answer: nothing is processed before. Partitions
// that have left meanwhile are not asked for, since their next owner may keep
// them unstable. Offsets that this member did not move are believed only while
// it is in the group: stopped for longer than its session it has lost its
// partitions without knowing it yet, and their next owner moves on.
func (l *lane) readBack(ctx context.Context, claims map[*claim]struct{}) (map[partition]int64, bool) {
	for {
		asked, cancel := context.WithTimeout(ctx, readBackTry)
		got, err := stableOffsets(asked, l.member.client, l.engine.cfg.ApplicationID, l.staying(claims))
		cancel()
		if err == nil && (!l.movedByOthers(got) || l.member.current(ctx)) {
			return got, true
		}
		l.engine.log.Warn("committed offsets not read back, trying again", "error", cmp.Or(err, errNotMember))
		if !pause(ctx, settlePause) {
			return nil, false
		}
	}
}

// readBackTry bounds one question for the committed offsets.
const readBackTry = 5 * time.Second

func (l *lane) staying(claims map[*claim]struct{}) []partition {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []partition
	for c := range claims {
		if !c.leaving {
			out = append(out, c.partition)
		}
	}
	return out
}

// rewindLocked also ends the recovery. After an error nothing is processed any
// more.
func (l *lane) rewindLocked(committed map[partition]int64) error {
	failed := l.failedLocked()
	for _, s := range l.slots {
		s.txn = nil
	}
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

// failedLocked are the transactions that did not commit, oldest first.
func (l *lane) failedLocked() []*txn {
	var failed []*txn
	for _, s := range l.slots {
		if s.txn != nil {
			failed = append(failed, s.txn)
		}
	}
	slices.SortFunc(failed, func(a, b *txn) int { return cmp.Compare(a.number, b.number) })
	return failed
}

func (l *lane) movedByOthers(committed map[partition]int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return checkCommitted(l.failedLocked(), committed) != nil
}

// checkCommitted compares the offsets read back with what this member sent:
// they lie between what it knows to be committed and what it tried to commit,
// unless somebody else moved them.
func checkCommitted(failed []*txn, committed map[partition]int64) error {
	tried := map[*claim]int64{}
	for _, t := range failed {
		for c, at := range t.next {
			tried[c] = max(tried[c], at.next)
		}
	}
	for c, last := range tried {
		at, ok := committed[c.partition]
		if !ok || at < 0 || c.leaving || (at >= c.next && at <= last) {
			continue
		}
		return newError(ErrOffsetsLost,
			fmt.Sprintf("the committed offset was moved to %d while the application ran; this member was between %d and %d", at, c.next, last),
			"find who reset the group's offsets, stop every member first, then start again", nil).at(c.topic, c.id, at)
	}
	return nil
}

// uncommitted drops the records of b that are committed.
func uncommitted(b batch, committed map[partition]int64) batch {
	at, ok := committed[b.claim.partition]
	if !ok || at < 0 {
		return b
	}
	n, _ := slices.BinarySearchFunc(b.records, at, func(r *kgo.Record, at int64) int { return cmp.Compare(r.Offset, at) })
	if n > 0 {
		b.claim.next = max(b.claim.next, b.records[n-1].Offset+1)
	}
	_, tail := b.cut(n)
	return tail
}

// blameLocked remembers whose outputs were refused. A broker refuses whole
// batches: with more than one suspect they are parted in two for the next time,
// and only a record that is the only suspect is taken at its word. A guilty one
// among n is so found after log n repetitions.
func (l *lane) blameLocked(failed []*txn) error {
	suspects, behind := suspectsOf(failed)
	switch len(suspects) {
	case 0:
		return nil
	case 1:
		return suspects[0].condemn()
	}
	for topic := range tooLarge(suspects) {
		l.engine.batches.halve(topic)
	}
	suspects[0].claim.part(suspects[0].offset)
	middle := suspects[len(suspects)/2]
	middle.claim.part(middle.offset)
	if behind != nil {
		behind.claim.part(behind.record.Offset)
	}
	return nil
}

// tooLarge are the topics that took a batch for too large.
func tooLarge(suspects []blame) map[string]struct{} {
	topics := map[string]struct{}{}
	for _, b := range suspects {
		if errors.Is(b.err, kerr.MessageTooLarge) {
			topics[b.output.Topic] = struct{}{}
		}
	}
	return topics
}

// suspectsOf gives one blame for each input with a refused output, in the order
// of processing, and the input that came behind the last of them.
func suspectsOf(failed []*txn) (suspects []blame, behind *origin) {
	type at struct {
		c      *claim
		offset int64
	}
	blamed := map[at]blame{}
	for _, t := range failed {
		for _, b := range t.fail.blamed {
			blamed[at{b.claim, b.offset}] = b
		}
	}
	if len(blamed) == 0 {
		return nil, nil
	}
	for _, t := range failed {
		for _, b := range t.inputs {
			for _, r := range b.records {
				if s, ok := blamed[at{b.claim, r.Offset}]; ok {
					suspects, behind = append(suspects, s), nil
				} else if behind == nil {
					behind = &origin{claim: b.claim, record: r}
				}
			}
		}
	}
	return suspects, behind
}

// condemn has the input stand for its refused output. When it was refused
// before, what the handler put in its place is refused too.
func (b blame) condemn() error {
	c, refusal := b.claim, &Refusal{Output: b.output, Err: b.err}
	if _, before := c.refused[b.offset]; before {
		return newError(ErrRefused, "what stands in for its refused output was refused, too", "mend the refusal handler", refusal).
			at(c.topic, c.id, b.offset)
	}
	if c.refused == nil {
		c.refused = map[int64]*Refusal{}
	}
	c.refused[b.offset] = refusal
	return nil
}
