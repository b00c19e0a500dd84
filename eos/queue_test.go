package eos

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
)

// someBatch has records with these offsets, of 3 bytes each.
func someBatch(c *claim, offsets ...int64) batch {
	var rs []*kgo.Record
	for _, o := range offsets {
		rs = append(rs, &kgo.Record{Topic: c.topic, Partition: c.id, Offset: o, Key: []byte("k"), Value: []byte("vv"), LeaderEpoch: 7})
	}
	return newBatch(c, rs)
}

func someClaim(id int32) *claim {
	return &claim{partition: partition{"in", id}, held: true, next: -1, end: -1}
}

func offsets(b batch) []int64 {
	var out []int64
	for _, r := range b.records {
		out = append(out, r.Offset)
	}
	return out
}

func TestQueueKeepsOrderAndCounts(t *testing.T) {
	t.Parallel()
	var q queue
	a, b := someClaim(0), someClaim(1)
	q.push(someBatch(a, 1, 2))
	q.push(someBatch(b, 10))
	q.push(someBatch(a, 3))
	require.Equal(t, 4, q.records)
	require.Equal(t, 12, q.bytes)
	require.Equal(t, []int{3, 1}, []int{a.queued, b.queued})

	first, ok := q.pop()
	require.True(t, ok)
	_, tail := first.cut(1)
	q.pushFront(tail, someBatch(a))
	again, _ := q.pop()
	require.Equal(t, []int64{2}, offsets(again))
	require.Equal(t, 2, q.records)

	q.drop(func(c *claim) bool { return c == b })
	require.Equal(t, 0, b.queued)
	_, _ = q.pop() // the empty one
	last, ok := q.pop()
	require.True(t, ok)
	require.Equal(t, []int64{3}, offsets(last))
	_, ok = q.pop()
	require.False(t, ok)
	require.Equal(t, queue{batches: []batch{}}, q)
}

func TestBatchIsCutWithItsBytes(t *testing.T) {
	t.Parallel()
	b := someBatch(someClaim(0), 4, 6, 9)
	for n, want := range [][2]int{{0, 9}, {3, 6}, {6, 3}, {9, 0}} {
		head, tail := b.cut(n)
		require.Equal(t, want, [2]int{head.size, tail.size})
		require.Equal(t, []int64{4, 6, 9}, append(offsets(head), offsets(tail)...))
	}
}

func TestTransactionGoesOnBehindTheLastRecordSeen(t *testing.T) {
	t.Parallel()
	c, other := someClaim(0), someClaim(1)
	x := newTxn(t.Context(), 1, time.Now())
	defer x.cancel()
	x.add(someBatch(c, 4, 6)) // holes are normal: compaction, aborted records
	x.add(someBatch(other, 1))
	x.add(someBatch(c, 9))
	x.add(someBatch(c))
	require.Equal(t, map[*claim]position{c: {next: 10, leaderEpoch: 7}, other: {next: 2, leaderEpoch: 7}}, x.next)
	require.Equal(t, []int{4, 12, 3}, []int{x.records, x.bytes, len(x.inputs)})
}

func TestClaimForgetsWhatIsBehindIt(t *testing.T) {
	t.Parallel()
	c := someClaim(0)
	c.apart = map[int64]struct{}{1: {}, 5: {}}
	c.refused = map[int64]*Refusal{2: {}, 6: {}}
	c.forget(5)
	require.Equal(t, map[int64]struct{}{5: {}}, c.apart)
	require.Equal(t, map[int64]*Refusal{6: {}}, c.refused)
}

func TestClaimGivesBackWhatWaited(t *testing.T) {
	t.Parallel()
	c := someClaim(0)
	at := time.Now().Add(time.Minute)
	c.park(someBatch(c, 3), at)
	c.parked = append(c.parked, someBatch(c, 4))
	require.Equal(t, at, c.retryAt)
	got := c.unpark()
	require.Len(t, got, 2)
	require.Equal(t, []int64{3, 4}, append(offsets(got[0]), offsets(got[1])...))
	require.Empty(t, c.parked)
	require.True(t, c.retryAt.IsZero())
}
