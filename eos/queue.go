package eos

// queue holds what was polled and is not yet in a transaction, in the order of
// polling.
type queue struct {
	batches []batch
	records int
	bytes   int
}

func (q *queue) push(b batch) {
	q.batches = append(q.batches, b)
	q.count(b, 1)
}

// pushFront puts batches back, first one first.
func (q *queue) pushFront(bs ...batch) {
	if len(bs) == 0 {
		return
	}
	q.batches = append(append(make([]batch, 0, len(bs)+len(q.batches)), bs...), q.batches...)
	for _, b := range bs {
		q.count(b, 1)
	}
}

// pop takes the first batch; ok is false when there is none.
func (q *queue) pop() (b batch, ok bool) {
	if len(q.batches) == 0 {
		return batch{}, false
	}
	b = q.batches[0]
	q.batches[0] = batch{}
	q.batches = q.batches[1:]
	q.count(b, -1)
	return b, true
}

// drop removes every batch for which gone says so.
func (q *queue) drop(gone func(*claim) bool) {
	kept := q.batches[:0]
	for _, b := range q.batches {
		if gone(b.claim) {
			q.count(b, -1)
			continue
		}
		kept = append(kept, b)
	}
	clear(q.batches[len(kept):])
	q.batches = kept
}

func (q *queue) count(b batch, sign int) {
	n := len(b.records)
	q.records += sign * n
	q.bytes += sign * b.size
	b.claim.queued += sign * n
}
