package eos

// What can become of a request, apart from being refused because its producer
// is fenced.
var modelFates = []string{"ok", "refused", "request lost", "request late", "reply lost", "answered, a copy late"}

var modelEvents = map[actionKind]eventKind{
	actionOpen: eventOpened, actionFlush: eventFlushed, actionOffer: eventOffered,
	actionCommit: eventCommitted, actionAbort: eventAborted, actionSettle: eventSettled,
}

// progress is the next half of a request: the broker meets it, or the answer is
// taken in. Anything may happen between the two.
func (l *modelLane) progress(i int, seen map[string]int, trouble bool) {
	s := &l.slots[i]
	f := s.flight
	if !f.applied {
		f.applied = true
		fate := 0
		if trouble && f.kind != actionSettle && l.choose(3) == 2 {
			fate = l.choose(len(modelFates))
		}
		seen[actionWords[f.kind]+" "+modelFates[fate]]++
		f.result = l.meet(i, f, fate)
		return
	}
	s.flight, s.last = nil, f.result
	if f.kind == actionAbort || f.kind == actionSettle {
		s.client = f.kind == actionSettle
	}
	if f.result == resultOK {
		switch f.kind {
		case actionFlush:
			s.flushed = true
		case actionOffer:
			s.answered = true
		case actionSettle:
			s.doubt = false
		case actionOpen, actionRelease, actionCommit, actionAbort, actionCancel, actionBook, actionReplay:
		}
	} else {
		l.failed = true
	}
	l.feed(event{kind: modelEvents[f.kind], slot: i, result: f.result, reason: ReasonNoAnswer})
}

// meet is the broker's half of one busy phase, and what its answer comes to.
func (l *modelLane) meet(i int, f *modelFlight, fate int) result {
	s := &l.slots[i]
	switch f.kind {
	case actionSettle:
		s.epoch = l.broker.initialise(i)
		return resultOK
	case actionOpen:
		return l.meetOpen(i, fate)
	case actionFlush:
		return l.meetFlush(i, f, fate)
	case actionOffer:
		for _, in := range s.inputs {
			if in.owner != l.broker.owner || !l.owned {
				return resultRefused // the stamps are compared before it is sent
			}
		}
		r := modelRequest{kind: actionOffer, id: i, epoch: s.epoch, owner: f.owner}
		if len(s.inputs) == 0 {
			return resultOK // no offsets to send
		}
		r.next = s.inputs[len(s.inputs)-1].offset + 1
		return l.send(i, r, fate)
	case actionCommit:
		return l.send(i, modelRequest{kind: actionCommit, id: i, epoch: s.epoch}, fate)
	case actionAbort:
		switch {
		case s.doubt:
			return resultUnknown
		case !s.begun:
			return resultOK // nothing to end
		}
		return l.send(i, modelRequest{kind: actionAbort, id: i, epoch: s.epoch}, fate)
	case actionRelease, actionCancel, actionBook, actionReplay:
	}
	l.broker.fault("not a request")
	return resultRefused
}

func (l *modelLane) meetOpen(i, fate int) result {
	s := &l.slots[i]
	if !s.client {
		if l.broker.ids[i].open {
			l.broker.fault("an open transaction is found by the next open")
		}
		s.epoch, s.client = l.broker.initialise(i), true
	}
	if l.broker.ids[i].open && l.broker.ids[i].epoch == s.epoch {
		l.broker.fault("a transaction is continued by the next one")
	}
	got := l.send(i, modelRequest{kind: actionOpen, id: i, epoch: s.epoch}, fate)
	s.begun = got == resultOK
	return got
}

func (l *modelLane) meetFlush(i int, f *modelFlight, fate int) result {
	s := &l.slots[i]
	held := s.held
	s.held = nil
	if s.refused {
		fate = 1
	}
	got := resultOK
	if len(held) > 0 || fate == 1 {
		got = l.send(i, modelRequest{kind: actionRelease, id: i, epoch: s.epoch, inputs: held}, fate)
	}
	switch {
	case l.broker.ids[i].epoch != s.epoch:
		return resultFenced
	case s.doubt:
		return resultUnknown
	case f.canceled && got == resultOK && l.choose(2) == 1:
		return resultRefused // told to stop before the last acknowledgement
	}
	return got
}

// send carries one request to the broker with what fate has for it.
func (l *modelLane) send(i int, r modelRequest, fate int) result {
	switch modelFates[fate] {
	case "ok":
		return l.broker.apply(r)
	case "refused":
		if l.broker.ids[i].epoch != r.epoch {
			return resultFenced
		}
		return resultRefused
	case "request late", "answered, a copy late":
		l.broker.late = append(l.broker.late, r)
	}
	l.slots[i].doubt = true
	if fate >= 4 {
		l.broker.apply(r)
	}
	return resultUnknown
}
