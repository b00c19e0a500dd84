package eos

import "slices"

// modelLane is the shell around the machine, with every wait turned into a
// choice of the walk. It keeps the line of transactions for itself and checks
// the gates when an action is asked for.
type modelLane struct {
	m      *machine
	broker *modelBroker
	slots  []modelSlot
	line   []int // slots with a transaction, by begin
	queue  []modelInput
	owned  bool
	failed bool // something of the line failed, no replay yet
	replay *action
	// choose picks one of n; 0 is always the harmless one.
	choose func(n int) int
	events int
}

// modelInput is a polled record and the owner it was polled under.
type modelInput struct{ offset, owner int }

type modelSlot struct {
	epoch  int  // of the client
	client bool // false: the next open initialises
	begun  bool // AddOffsetsToTxn was acknowledged
	doubt  bool // a copy or a Produce has no answer
	last   result
	flight *modelFlight

	inputs   []modelInput
	held     []int
	let      bool // outputs go to the broker as they come
	refused  bool // a Produce was refused
	flushed  bool
	answered bool // TxnOffsetCommit
}

type modelFlight struct {
	kind     actionKind
	owner    int
	applied  bool
	canceled bool
	result   result
}

func newModelLane(slots int, choose func(int) int) *modelLane {
	l := &modelLane{
		m:      newMachine(slots),
		broker: &modelBroker{ids: make([]modelID, slots), owner: 1},
		slots:  make([]modelSlot, slots),
		choose: choose,
	}
	l.assign()
	return l
}

func (l *modelLane) assign() {
	l.owned = true
	l.queue = nil
	for o := l.broker.offset; o < modelInputs; o++ {
		l.queue = append(l.queue, modelInput{offset: o, owner: l.broker.owner})
	}
}

// feed gives the machine one event and carries out what it asks for.
func (l *modelLane) feed(e event) {
	l.events++
	before := l.m.replaying
	for _, a := range l.m.step(e) {
		l.perform(a)
	}
	if before && !l.m.replaying && e.kind != eventReplayed {
		l.broker.fault("the replay is over without having happened")
	}
	if len(l.line) > 0 && !slices.ContainsFunc(l.slots, func(s modelSlot) bool { return s.flight != nil }) &&
		l.m.filling < 0 && l.replay == nil {
		l.broker.fault("deadlock: a transaction waits and nothing is on its way")
	}
}

func (l *modelLane) perform(a action) {
	s := &l.slots[a.slot]
	switch a.kind {
	case actionRelease:
		l.release(a.slot)
		return
	case actionCancel:
		if s.flight == nil || s.flight.kind != actionFlush {
			l.broker.fault("cancel without a flush")
			return
		}
		s.flight.canceled = true
		return
	case actionBook:
		l.book(a.slot)
		return
	case actionReplay:
		l.startReplay(a)
		return
	case actionOpen, actionFlush, actionOffer, actionCommit, actionAbort, actionSettle:
	}
	if s.flight != nil {
		l.broker.fault("two requests in flight for one slot")
	}
	s.flight = &modelFlight{kind: a.kind, owner: l.broker.owner}
	if why := l.gate(a); why != "" {
		l.broker.fault(why)
	}
	if a.kind == actionOpen {
		l.line = append(l.line, a.slot)
		l.slots[a.slot] = modelSlot{epoch: s.epoch, client: s.client, flight: s.flight}
	}
}

// gate says what is wrong with sending this request now.
func (l *modelLane) gate(a action) string {
	s := l.slots[a.slot]
	at := slices.Index(l.line, a.slot)
	switch {
	case a.kind == actionOpen && at >= 0:
		return "a transaction begins on a slot that has one"
	case a.kind == actionOpen && (l.failed || l.replay != nil):
		return "a transaction begins during a recovery"
	case a.kind != actionOpen && at < 0:
		return "a request of a slot without a transaction"
	case (s.last == resultUnknown || s.last == resultFenced) && a.kind != actionSettle:
		return "a client in doubt, or fenced, is used again"
	case s.last == resultRefused && a.kind != actionSettle && a.kind != actionAbort:
		return "a refused transaction goes on"
	case a.kind == actionOpen || a.kind == actionAbort || a.kind == actionSettle:
		return ""
	case s.refused && a.kind != actionFlush:
		return "a transaction goes on without one of its outputs"
	case a.kind == actionFlush && l.m.filling == a.slot:
		return "a flush while the slot takes records"
	case a.kind == actionCommit && (!s.flushed || !s.answered):
		return "a commit before flush and offsets"
	case a.kind == actionOffer && !s.flushed:
		return "offsets before the flush"
	}
	for _, j := range l.line[:at] {
		switch {
		case a.kind == actionFlush && !l.slots[j].flushed:
			return "produced before the flush in front"
		case a.kind == actionOffer && !l.slots[j].answered:
			return "offsets before the answer in front"
		case a.kind == actionCommit:
			return "commit before the commit in front"
		}
	}
	return ""
}

// release hands over what is held and everything that follows.
func (l *modelLane) release(i int) {
	s := &l.slots[i]
	s.let = true
	for _, j := range l.line[:slices.Index(l.line, i)] {
		if !l.slots[j].flushed {
			l.broker.fault("released before the flush in front")
		}
	}
	if !s.begun {
		l.broker.fault("produced before AddOffsetsToTxn was acknowledged")
	}
	l.produce(i)
}

func (l *modelLane) produce(i int) {
	s := &l.slots[i]
	held := s.held
	s.held = nil
	if len(held) == 0 {
		return
	}
	r := modelRequest{kind: actionRelease, id: i, epoch: s.epoch, inputs: held}
	if l.broker.apply(r) != resultOK {
		s.refused = true // learnt at the flush
	}
}

func (l *modelLane) book(i int) {
	if len(l.line) == 0 || l.line[0] != i {
		l.broker.fault("booked out of order")
		return
	}
	l.line = l.line[1:]
	l.slots[i].inputs = nil
}

func (l *modelLane) startReplay(a action) {
	for i, s := range l.slots {
		if s.flight != nil {
			l.broker.fault("replay while a request is in flight")
		}
		if l.broker.ids[i].open {
			l.broker.fault("replay while a transaction is open")
		}
	}
	l.replay = &a
}

// finishReplay puts what was not booked in front of the queue.
func (l *modelLane) finishReplay() {
	var again []modelInput
	for _, i := range l.line {
		for _, in := range l.slots[i].inputs {
			if in.owner != l.broker.owner || (l.replay.readBack && in.offset < l.broker.offset) {
				continue
			}
			again = append(again, in)
		}
		l.slots[i].inputs = nil
	}
	l.queue = append(again, l.queue...)
	if l.owned {
		next := modelInputs
		if len(l.queue) > 0 {
			next = l.queue[0].offset
		}
		if next != l.broker.offset {
			l.broker.fault("the replay starts beside the committed offset")
		}
	}
	l.line, l.replay, l.failed = nil, nil, false
	l.feed(event{kind: eventReplayed})
}
