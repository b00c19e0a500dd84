package eos

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
)

// idleLane is a lane whose slots' actions are left undone.
func idleLane(t *testing.T) *lane {
	t.Helper()
	e := &Engine{cfg: Config{Slots: 3}.withDefaults()}
	e.member = newMember(e, &identity{instance: "member"})
	l := newLane(e, 0)
	l.ctx = t.Context()
	t.Cleanup(func() { l.alarm.Stop() })
	return l
}

// Under a steady stream the next transaction is open before it is needed. It
// begins to fill when the one in front is closed by its age: it must not be
// taken for one that nobody needs and closed too, which would leave no slot to
// fill until the first one has ended.
func TestWithWorkWaitingTheTransactionOpenedAheadFillsNext(t *testing.T) {
	t.Parallel()
	l := idleLane(t)
	now := time.Now()
	l.closedAt = now.Add(-time.Millisecond) // a steady stream
	c := someClaim(0)
	c.lane = l
	l.queue.push(newBatch(c, []*kgo.Record{{Offset: 0}, {Offset: 1}}))

	do := l.nextLocked(now)
	require.Equal(t, todoWork, do.kind)
	require.Same(t, l.slots[0], do.slot)
	require.Equal(t, 1, l.machine.ahead)
	head, tail := do.batch.cut(1)
	do.slot.txn.add(head)
	l.current, l.working = tail, nil

	do = l.nextLocked(now.Add(l.engine.cfg.CommitInterval))
	require.True(t, l.machine.slots[0].closing)
	require.Equal(t, todoWork, do.kind)
	require.Same(t, l.slots[1], do.slot)
	require.False(t, l.machine.slots[1].closing)
}

// One that nobody needs is ended after a commit interval without records.
func TestATransactionOpenedAheadAndNotNeededIsClosed(t *testing.T) {
	t.Parallel()
	l := idleLane(t)
	now := time.Now()
	l.closedAt = now.Add(-time.Millisecond)
	c := someClaim(0)
	c.lane = l
	l.queue.push(newBatch(c, []*kgo.Record{{Offset: 0}}))
	do := l.nextLocked(now)
	do.slot.txn.add(do.batch)
	l.current, l.working = batch{}, nil

	closed := now.Add(l.engine.cfg.CommitInterval)
	do = l.nextLocked(closed)
	require.Equal(t, todoWait, do.kind)
	require.Equal(t, 1, l.machine.filling)
	require.Equal(t, closed.Add(l.engine.cfg.CommitInterval), do.until)
	l.nextLocked(do.until)
	require.Equal(t, -1, l.machine.filling)
	require.True(t, l.machine.slots[1].closing)
}

// With every slot under way the process goroutine waits for news; it does not
// ask again and again.
func TestWithEverySlotUnderWayTheLaneWaits(t *testing.T) {
	t.Parallel()
	l := idleLane(t)
	for range l.slots {
		l.handle(event{kind: eventBegin})
		l.handle(event{kind: eventClose})
	}
	c := someClaim(0)
	c.lane = l
	l.queue.push(newBatch(c, []*kgo.Record{{Offset: 0}}))
	l.attention.Store(false)
	select {
	case <-l.wake:
	default:
	}
	require.Equal(t, todo{}, l.nextLocked(time.Now()))
	require.False(t, l.attention.Load())
	require.Empty(t, l.wake)
}
