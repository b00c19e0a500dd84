package eos

import (
	"cmp"
	"slices"
	"time"
)

// Status is a picture of a running member.
type Status struct {
	// Joined: the group has accepted this member at least once and Run has
	// not begun to stop.
	Joined bool
	// Member is the group.instance.id, Generation the group's current one.
	Member     string
	Generation int32
	// LastPoll is when the last poll returned; a member with paused or idle
	// partitions polls on, one without news waits in its poll.
	LastPoll time.Time
	// Recovering counts the lanes that repeat records after a failed
	// transaction.
	Recovering int
	Partitions []PartitionStatus
}

// PartitionStatus is one owned partition.
type PartitionStatus struct {
	Topic     string
	Partition int32
	// Next is the committed position, -1 when the group has none yet. Control
	// records count as processed, so Next reaches End.
	Next int64
	// End is the last stable offset as of the last fetch, -1 before it.
	End int64
	// Queued counts records polled and not yet in a transaction.
	Queued int
	// Waiting: the partition stands still until a record is tried again.
	Waiting bool
}

// Lag is how many offsets lie between Next and End; 0 when either is unknown.
func (p PartitionStatus) Lag() int64 {
	if p.Next < 0 || p.End < 0 {
		return 0
	}
	return max(0, p.End-p.Next)
}

// Status may be called at any time, from any goroutine.
func (e *Engine) Status() Status {
	if !e.ready.Load() {
		return Status{}
	}
	m := e.member
	s := Status{Joined: m.joined.Load(), Member: m.id.instance, LastPoll: time.Unix(0, m.polledAt.Load())}
	_, s.Generation = m.client.GroupMetadata()
	for _, l := range e.lanes {
		claims := m.claimsOf(l)
		l.mu.Lock()
		if l.machine.recovering {
			s.Recovering++
		}
		for _, c := range claims {
			s.Partitions = append(s.Partitions, PartitionStatus{
				Topic: c.topic, Partition: c.id, Next: c.next, End: c.end, Queued: c.queued, Waiting: len(c.parked) > 0,
			})
		}
		l.mu.Unlock()
	}
	slices.SortFunc(s.Partitions, func(a, b PartitionStatus) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return s
}
