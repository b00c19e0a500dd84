package eos

import (
	"context"
	"slices"
)

// leave keeps the claims' records out of every transaction from now on, and
// asks for what is under way to be closed.
func (l *lane) leave(claims []*claim) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range claims {
		c.leaving = true
		c.unpark()
		delete(l.parked, c)
	}
	l.queue.drop(func(c *claim) bool { return c.leaving })
	l.closeNow = true
	l.notifyLocked()
}

// awaitClosed waits until no record of the claims is in the handler and the
// transaction that took them takes no more.
func (l *lane) awaitClosed(ctx context.Context, claims []*claim) bool {
	return l.await(ctx, func() bool { return !l.closeNow && !slices.Contains(claims, l.working) })
}

// awaitQuiet waits until no transaction with records of the claims is left.
func (l *lane) awaitQuiet(ctx context.Context, claims []*claim) bool {
	return l.await(ctx, func() bool {
		for _, s := range l.slots {
			if s.txn == nil {
				continue
			}
			for _, c := range claims {
				if _, in := s.txn.next[c]; in {
					return false
				}
			}
		}
		return true
	})
}

// drain commits what is under way and takes nothing more; false when ctx ended
// first.
func (l *lane) drain(ctx context.Context) bool {
	l.mu.Lock()
	l.draining, l.closeNow = true, true
	l.notifyLocked()
	l.mu.Unlock()
	return l.await(ctx, func() bool {
		ended := !l.closeNow && len(l.machine.line) == 0 && l.replay == nil
		return l.working == nil && (ended || l.abandoned)
	})
}

// pausing says whether pauses has anything to decide.
func (l *lane) pausing(full bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return full || len(l.parked) > 0 || l.pausedAny
}

// pauses compares what is paused with what should be.
func (l *lane) pauses(full bool, claims []*claim) (pause, resume map[string][]int32, left bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	pause, resume = map[string][]int32{}, map[string][]int32{}
	l.pausedAny = false
	for _, c := range claims {
		_, waits := l.parked[c]
		want := full || waits
		switch {
		case want && !c.paused:
			pause[c.topic] = append(pause[c.topic], c.id)
		case !want && c.paused:
			resume[c.topic] = append(resume[c.topic], c.id)
		}
		c.paused = want
		l.pausedAny = l.pausedAny || want
	}
	return pause, resume, l.pausedAny
}
