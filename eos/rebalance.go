package eos

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// onAssigned makes a new claim for every gained partition. Its lane is the one
// that already works on the same partition number, so that topics read together
// meet in one place, else the one with the fewest.
func (m *member) onAssigned(_ context.Context, _ *kgo.Client, gained map[string][]int32) {
	<-m.begun
	m.joined.Store(true)
	m.mu.Lock()
	for topic, ids := range gained {
		for _, id := range ids {
			p := partition{topic, id}
			m.claims[p] = &claim{partition: p, lane: m.laneFor(id), held: true, next: -1, polled: -1, end: -1}
		}
	}
	m.mu.Unlock()
	m.client.ResumeFetchPartitions(gained) // paused in an earlier stay, they would never be read again
	m.engine.observe(Event{Kind: Assigned, Partitions: gained})
	if len(gained) > 0 {
		m.log.Info("partitions assigned", "partitions", gained)
		m.fencing.wanted()
	}
}

// laneFor REQUIRES: m.mu held.
func (m *member) laneFor(id int32) *lane {
	load := map[*lane]int{}
	for p, c := range m.claims {
		if p.id == id {
			return c.lane
		}
		load[c.lane]++
	}
	best := m.engine.lanes[0]
	for _, l := range m.engine.lanes {
		if load[l] < load[best] {
			best = l
		}
	}
	return best
}

// take removes the claims of partitions that are going.
func (m *member) take(lost map[string][]int32, remove bool) map[*lane][]*claim {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[*lane][]*claim{}
	for topic, ids := range lost {
		for _, id := range ids {
			p := partition{topic, id}
			c := m.claims[p]
			if c == nil {
				continue
			}
			out[c.lane] = append(out[c.lane], c)
			if remove {
				c.held = false
				delete(m.claims, p)
			}
		}
	}
	return out
}

// onRevoked finishes what is under way for the partitions that go: the record
// in hand, flush, offsets, end, within one deadline of which the last quarter
// is kept for the commit. The ownership stamps move afterwards. Polling is
// blocked meanwhile; partitions that stay are still processed.
func (m *member) onRevoked(ctx context.Context, _ *kgo.Client, lost map[string][]int32) {
	<-m.begun
	if len(lost) == 0 || m.drained.Load() {
		return
	}
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, m.engine.cfg.RevokeTimeout)
	defer cancel()
	closing, cancelClosing := context.WithTimeout(ctx, m.engine.cfg.RevokeTimeout*3/4)
	defer cancelClosing()
	leaving := m.take(lost, false)
	for l, claims := range leaving {
		l.leave(claims)
	}
	for l, claims := range leaving {
		if !l.awaitClosed(closing, claims) || !l.awaitQuiet(ctx, claims) {
			l.doomAll(ReasonDeadline)
		}
	}
	m.take(lost, true)
	m.engine.observe(Event{Kind: Revoked, Partitions: lost, Age: time.Since(start)})
	m.log.Info("partitions revoked", "partitions", lost, "took", time.Since(start))
}

// onLost aborts. It may be called several times for one loss.
func (m *member) onLost(_ context.Context, _ *kgo.Client, lost map[string][]int32) {
	<-m.begun
	if m.drained.Load() {
		return
	}
	gone := m.take(lost, true)
	for l, claims := range gone {
		if mutant == mutantNoStamp {
			continue // the loss is half of what the stamp says
		}
		l.leave(claims)
		l.doomAll(ReasonLost)
	}
	if len(gone) > 0 {
		m.engine.observe(Event{Kind: PartitionsLost, Partitions: lost})
		m.log.Warn("partitions lost: the group gave them to others; open transactions are aborted", "partitions", lost)
	}
}
