package eos

// modelBroker does with the transactions of one lane what a 3.9 broker does:
// one input partition, one output partition, and a transaction for each
// transactional id. It knows nothing of the machine.
//
// A request carries the epoch of its producer and no identity of its
// transaction (before KIP-890 part 2), so that a copy which arrives late acts
// on whatever the id has open, until the id is initialised anew.
type modelBroker struct {
	ids []modelID
	log []modelEntry
	// offset is the committed offset of the input; setBy is the place of the
	// TxnOffsetCommit that set it. The newest appended one wins, not the newest
	// committed one.
	offset, setBy, appended int
	owner                   int // moves whenever the input partition changes hands
	late                    []modelRequest
	faults                  []string
}

type modelID struct {
	epoch   int
	open    bool
	entries []int // in the log, of the open transaction
	pending bool  // a TxnOffsetCommit was accepted
	next    int
	place   int
}

type modelEntry struct {
	input int
	state modelState
}

type modelState int8

const (
	modelUndecided modelState = iota
	modelVisible
	modelAborted
)

// modelRequest is one written copy.
type modelRequest struct {
	kind      actionKind // open, release (a Produce), offer, commit, abort
	id, epoch int
	next      int // offer
	owner     int // offer: the owner of the input when it was sent
	inputs    []int
}

func (b *modelBroker) fault(what string) { b.faults = append(b.faults, what) }

// initialise is InitProducerID: it aborts what is open and fences older
// producers.
func (b *modelBroker) initialise(id int) int {
	b.end(id, false)
	b.ids[id].epoch++
	return b.ids[id].epoch
}

// apply is the arrival of one copy.
func (b *modelBroker) apply(r modelRequest) result {
	id := &b.ids[r.id]
	if r.epoch != id.epoch {
		return resultFenced
	}
	if r.kind == actionOpen {
		id.open = true
		return resultOK
	}
	if !id.open {
		return resultRefused
	}
	switch r.kind {
	case actionRelease:
		for _, input := range r.inputs {
			id.entries = append(id.entries, len(b.log))
			b.log = append(b.log, modelEntry{input: input})
		}
	case actionOffer:
		if r.owner != b.owner {
			return resultRefused // the generation moved with the partition
		}
		b.appended++
		id.pending, id.next, id.place = true, r.next, b.appended
	case actionCommit, actionAbort:
		b.end(r.id, r.kind == actionCommit)
	case actionOpen, actionFlush, actionSettle, actionCancel, actionBook, actionReplay:
		b.fault("no such request")
	}
	return resultOK
}

func (b *modelBroker) end(i int, commit bool) {
	id := &b.ids[i]
	state := modelAborted
	if commit {
		state = modelVisible
	}
	for _, at := range id.entries {
		b.log[at].state = state
	}
	if commit && id.pending && id.place > b.setBy {
		if id.next < b.offset {
			b.fault("the committed offset goes back")
		}
		b.offset, b.setBy = id.next, id.place
	}
	*id = modelID{epoch: id.epoch}
}

// stable says whether a stable OffsetFetch would be answered.
func (b *modelBroker) stable() bool {
	for _, id := range b.ids {
		if id.pending {
			return false
		}
	}
	return true
}

// rival is another member that owned the input meanwhile and committed n
// records.
func (b *modelBroker) rival(n int) {
	for ; n > 0 && b.offset < modelInputs; n-- {
		if modelOutput(b.offset) {
			b.log = append(b.log, modelEntry{input: b.offset, state: modelVisible})
		}
		b.offset++
		b.appended++
		b.setBy = b.appended
	}
}

// verdict is what a read_committed reader finds at the end.
func (b *modelBroker) verdict() {
	want := 0
	for _, e := range b.log {
		if e.state == modelUndecided {
			b.fault("an output is still undecided")
		}
		if e.state != modelVisible {
			continue
		}
		for !modelOutput(want) {
			want++
		}
		if e.input != want {
			b.fault("outputs are missing, doubled or out of order")
			return
		}
		want++
	}
	for want < modelInputs && !modelOutput(want) {
		want++
	}
	if want != modelInputs {
		b.fault("outputs are missing at the end")
	}
	if b.offset != modelInputs {
		b.fault("the committed offset is not the end")
	}
	for _, id := range b.ids {
		if id.open {
			b.fault("a transaction is left open")
		}
	}
}

// modelInputs is the length of the input partition.
const modelInputs = 48

// modelOutput says whether an input has an output: a transaction of none that
// has is one of offsets only.
func modelOutput(input int) bool { return input%4 != 3 }
