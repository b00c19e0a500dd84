package eos

import "time"

// claim is one stay of a partition at this member, from its assignment to its
// revocation or loss. It is the ownership stamp: records carry the claim they
// were polled under, and a transaction is committed only while every claim in
// it still holds. The broker checks member and generation, never ownership.
type claim struct {
	partition
	lane *lane

	// held is guarded by member.mu and moved by the group's callbacks only.
	held bool

	// The rest is guarded by lane.mu.

	// leaving: a revoke or loss has begun; nothing of the partition enters a
	// transaction any more.
	leaving bool
	next    int64 // next offset to process, committed; -1: the group has none
	polled  int64 // next offset to poll; -1 before the first offset is known
	end     int64 // last stable offset as of the last fetch; -1 before the first
	queued  int   // records polled and not yet in a transaction
	paused  bool  // not fetched: its lane is full, or it waits for a retry

	// parked is what waits, until retryAt, behind a record to be tried again.
	parked  []batch
	retryAt time.Time

	// apart holds offsets before which everything produced is acknowledged, so
	// that outputs in front and behind share no batch: a broker refuses whole
	// batches, and shows only so whose record it means. refused holds those
	// found.
	apart   map[int64]struct{}
	refused map[int64]*Refusal

	// overdue counts the transactions that exceeded their time-out in the
	// handler, at the record that was in it.
	overdue struct {
		offset int64
		times  int
	}
}

// overran books a transaction that exceeded its time-out while the handler was
// at work on the record at offset, and says how often that has happened.
func (c *claim) overran(offset int64) int {
	if c.overdue.offset != offset {
		c.overdue.times = 0
	}
	c.overdue.offset = offset
	c.overdue.times++
	return c.overdue.times
}

// park keeps b, and everything behind it, until at.
func (c *claim) park(b batch, at time.Time) {
	c.parked = append(c.parked, b)
	c.retryAt = at
}

// unpark gives back what waits.
func (c *claim) unpark() []batch {
	bs := c.parked
	c.parked, c.retryAt = nil, time.Time{}
	return bs
}

// forget drops what was remembered about records that are behind next.
func (c *claim) forget(next int64) {
	for offset := range c.refused {
		if offset < next {
			delete(c.refused, offset)
		}
	}
	for offset := range c.apart {
		if offset < next {
			delete(c.apart, offset)
		}
	}
}

// part has everything before offset acknowledged before its outputs are sent.
func (c *claim) part(offset int64) {
	if c.apart == nil {
		c.apart = map[int64]struct{}{}
	}
	c.apart[offset] = struct{}{}
}
