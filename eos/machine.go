package eos

import "slices"

// machine decides what the slots of one lane do next. It is pure: no clock, no
// goroutine, no client. The lane feeds it events, one at a time, and carries
// out the actions it returns.
//
// A slot's transaction passes these phases; "busy" ones have exactly one
// request chain in flight and end with the event of the same name:
//
//	idle ─┐                       ┌─ gate ─┐          ┌─ gate ─┐           ┌─ gate ─┐
//	stale ┴─> opening ─> open ────┴────────┴> flushing┴> flushed┴> offering┴> offered┴> committing ─> idle
//	           busy        │ takes records     busy               busy                   busy
//	                       └── any phase, once doomed ──> aborting (busy) ─> stale, or settling (busy) ─> idle
//
// The gates hold the order of two transactions A, B of one lane, A first:
//
//	B is released to the producer   after A's flush is acknowledged
//	B's TxnOffsetCommit is sent     after A's is answered
//	B's EndTxn(commit) is sent      after A's is acknowledged
//
// What a result does to its slot, and to the slots behind it:
//
//	event      ok                 refused            unknown (no answer,     fenced              the slots behind it
//	                              (a clear no)       or a copy without one)                      unless ok
//	opened     open               abort              settle                  settle              doomed: abort
//	flushed    flushed            abort              settle                  settle              doomed: abort
//	offered    offered            abort              settle                  settle              doomed: abort
//	committed  booked, idle       settle             settle                  settle              doomed: abort
//	aborted    stale              settle             settle                  settle              already doomed
//	settled    idle               (the lane repeats until ok, or stops)                          already doomed
//
// An abort that is fenced leaves no doubt about the transaction, only about who
// has the id now: a stale slot would initialise it at the next open, and so kill
// the transaction of a process that took it over, without having asked whether
// this member is still in the group. Settling asks first.
//
// A doomed slot that is busy waits for its answer first: an answer "unknown"
// makes it settle, and the answer "committed" still counts as committed. When
// the slots in front of the failed one have ended as they would have anyway and
// every doomed one has been aborted or settled, the lane replays: from memory,
// and after any settling from the committed offsets read back from the broker.
type machine struct {
	slots []machineSlot
	// line holds the slots with a transaction, oldest first.
	line []int
	// filling is the slot that takes records, -1 if none.
	filling int
	// ahead is the slot opened to fill next, before there is anything to fill
	// it with; -1 if none. It is the last in line, the filling one in front
	// of it.
	ahead int
	// recovering: a transaction of the line failed; nothing new begins until
	// the replay is over.
	recovering bool
	// readBack: a slot of this recovery was settled, so only the broker knows
	// where to go on.
	readBack bool
	// replaying: the line is empty and the lane is rewinding.
	replaying bool
}

type machineSlot struct {
	phase    phase
	closing  bool   // takes no more records
	released bool   // its outputs may go to the producer
	doom     doom   // why it must not commit
	settled  bool   // initialised anew: usable as it is once the recovery is over
	canceled bool   // its flush has been told to stop
	reason   Reason // the first reason it was doomed for; kept until the slot begins anew
}

type phase int8

const (
	phaseIdle phase = iota
	phaseStale
	phaseOpening
	phaseOpen
	phaseFlushing
	phaseFlushed
	phaseOffering
	phaseOffered
	phaseCommitting
	phaseAborting
	phaseSettling
	phaseEnded // doomed, aborted or settled; waits for the rest of the line
)

// doom is how a transaction that must not commit is brought to an end. A
// stronger one replaces a weaker one.
type doom int8

const (
	doomNone doom = iota
	doomAbort
	doomSettle
)

// result is the outcome of one busy phase.
type result int8

const (
	resultOK result = iota
	resultRefused
	resultUnknown
	resultFenced
)

type eventKind int8

const (
	eventBegin     eventKind = iota // there are records and no slot is filling
	eventAhead                      // a slot is filling; the next one may be opened
	eventClose                      // the filling slot takes no more records
	eventOpened                     // busy phases, with a result
	eventFlushed                    //
	eventOffered                    //
	eventCommitted                  //
	eventAborted                    //
	eventSettled                    //
	eventDoomed                     // one transaction cannot commit (a produce failed)
	eventDoomAll                    // none can (partitions lost, deadline passed, shutdown)
	eventReplayed                   // the lane has rewound
)

type event struct {
	kind   eventKind
	slot   int
	result result
	reason Reason
}

type actionKind int8

const (
	actionOpen    actionKind = iota // initialise if stale, begin, AddOffsetsToTxn
	actionRelease                   // hand held outputs to the producer
	actionFlush                     // hand over what is held, wait for all acknowledgements
	actionOffer                     // TxnOffsetCommit
	actionCommit                    // EndTxn(commit)
	actionAbort                     // EndTxn(abort), then discard the client
	actionSettle                    // discard the client, initialise the id anew
	actionCancel                    // stop waiting for a flush: the transaction is doomed
	actionBook                      // the transaction is committed
	actionReplay                    // rewind; readBack says from where
)

type action struct {
	kind     actionKind
	slot     int
	readBack bool
}

// newMachine starts with every slot in need of InitProducerID.
func newMachine(slots int) *machine {
	m := &machine{slots: make([]machineSlot, slots), filling: -1, ahead: -1}
	for i := range m.slots {
		m.slots[i].phase = phaseStale
	}
	return m
}

func (m *machine) busy(i int) bool {
	switch m.slots[i].phase {
	case phaseOpening, phaseFlushing, phaseOffering, phaseCommitting, phaseAborting, phaseSettling:
		return true
	case phaseIdle, phaseStale, phaseOpen, phaseFlushed, phaseOffered, phaseEnded:
	}
	return false
}

// step takes one event and returns what to do, in order. An event that does
// not fit the state breaks an invariant and panics.
func (m *machine) step(e event) []action {
	switch e.kind {
	case eventBegin:
		if m.filling < 0 {
			return m.open(&m.filling)
		}
		return nil
	case eventAhead:
		if m.filling >= 0 && m.ahead < 0 {
			return m.open(&m.ahead)
		}
		return nil
	case eventClose:
		if m.filling >= 0 {
			m.slots[m.filling].closing = true
			m.filling, m.ahead = m.ahead, -1
		}
	case eventDoomed:
		m.doomFrom(e.slot, doomAbort, e.reason)
	case eventDoomAll:
		for _, i := range m.line {
			m.recovering, m.filling, m.ahead = true, -1, -1
			m.doomSlot(i, doomAbort, e.reason)
		}
	case eventReplayed:
		invariant(m.replaying, "replayed outside a recovery")
		m.recovering, m.readBack, m.replaying = false, false, false
	case eventOpened, eventFlushed, eventOffered, eventCommitted, eventAborted, eventSettled:
		return append(m.finish(e), m.advance()...)
	}
	return m.advance()
}

// open begins a transaction on a free slot, and makes it the filling one or the
// one ahead.
func (m *machine) open(as *int) []action {
	if m.recovering {
		return nil
	}
	for i := range m.slots {
		s := &m.slots[i]
		if s.phase == phaseIdle || s.phase == phaseStale {
			*s = machineSlot{phase: phaseOpening}
			*as = i
			m.line = append(m.line, i)
			return []action{{kind: actionOpen, slot: i}}
		}
	}
	return nil
}

// finish books the result of a busy phase.
func (m *machine) finish(e event) []action {
	s := &m.slots[e.slot]
	invariant(s.phase == busyPhase[e.kind], "result for a phase that is not running")
	switch e.kind {
	case eventCommitted:
		if e.result == resultOK {
			invariant(m.line[0] == e.slot, "committed out of order")
			m.line = m.line[1:]
			*s = machineSlot{phase: phaseIdle}
			return []action{{kind: actionBook, slot: e.slot}}
		}
		s.phase = phaseOffered
		m.doomFrom(e.slot, doomSettle, e.reason)
		return nil
	case eventAborted:
		s.phase = phaseEnded
		if e.result != resultOK {
			s.phase = phaseOpen
			m.doomSlot(e.slot, doomSettle, e.reason)
		}
		return nil
	case eventSettled:
		invariant(e.result == resultOK, "settled without success")
		s.phase, s.settled = phaseEnded, true
		m.readBack = true
		return nil
	case eventOpened, eventFlushed, eventOffered:
		s.phase = afterPhase[e.kind]
	case eventBegin, eventAhead, eventClose, eventDoomed, eventDoomAll, eventReplayed:
	}
	switch e.result {
	case resultOK:
	case resultRefused:
		m.doomFrom(e.slot, doomAbort, e.reason)
	case resultUnknown, resultFenced:
		m.doomFrom(e.slot, doomSettle, e.reason)
	}
	return nil
}

var busyPhase = map[eventKind]phase{
	eventOpened: phaseOpening, eventFlushed: phaseFlushing, eventOffered: phaseOffering,
	eventCommitted: phaseCommitting, eventAborted: phaseAborting, eventSettled: phaseSettling,
}

var afterPhase = map[eventKind]phase{
	eventOpened: phaseOpen, eventFlushed: phaseFlushed, eventOffered: phaseOffered,
}

// doomFrom dooms slot i and every transaction behind it.
func (m *machine) doomFrom(i int, d doom, reason Reason) {
	at := slices.Index(m.line, i)
	if at < 0 {
		return // it ended before the news came
	}
	m.recovering = true
	m.doomSlot(i, d, reason)
	for _, j := range m.line[at+1:] {
		m.doomSlot(j, doomAbort, ReasonCascade)
	}
	m.ahead = -1
	if m.filling >= 0 && m.slots[m.filling].doom != doomNone {
		m.filling = -1 // in front of a failed one ahead it goes on until it is closed
	}
}

func (m *machine) doomSlot(i int, d doom, reason Reason) {
	s := &m.slots[i]
	if s.doom == doomNone {
		s.reason = reason
	}
	s.doom = max(s.doom, d)
	s.closing = true
}

// advance starts whatever the gates allow, and the replay once everything that
// had to end has ended.
func (m *machine) advance() []action {
	var out []action
	ended := true
	for at, i := range m.line {
		out = append(out, m.next(at, i)...)
		ended = ended && m.slots[i].phase == phaseEnded
	}
	if !m.recovering || m.replaying || !ended {
		return out
	}
	for _, i := range m.line {
		rest := phaseStale // an aborted slot's client was discarded
		if m.slots[i].settled {
			rest = phaseIdle
		}
		m.slots[i] = machineSlot{phase: rest, reason: m.slots[i].reason}
	}
	m.line, m.replaying = nil, true
	return append(out, action{kind: actionReplay, readBack: m.readBack})
}

// next is what slot i, at place at of the line, does now.
func (m *machine) next(at, i int) []action {
	s := &m.slots[i]
	switch {
	case s.phase == phaseFlushing && s.doom != doomNone && !s.canceled:
		s.canceled = true
		return []action{{kind: actionCancel, slot: i}}
	case m.busy(i) || s.phase == phaseEnded:
		return nil
	case s.doom == doomSettle:
		s.phase = phaseSettling
		return []action{{kind: actionSettle, slot: i}}
	case s.doom == doomAbort:
		s.phase = phaseAborting
		return []action{{kind: actionAbort, slot: i}}
	}
	return m.nextOnTheWay(at, i)
}

// nextOnTheWay is next for a slot that is still meant to commit.
func (m *machine) nextOnTheWay(at, i int) []action {
	s := &m.slots[i]
	switch s.phase {
	case phaseOpen:
		released := s.released
		s.released = released || m.allBefore(at, phaseFlushed)
		switch {
		case s.released && s.closing:
			s.phase = phaseFlushing
			return []action{{kind: actionFlush, slot: i}}
		case s.released && !released:
			return []action{{kind: actionRelease, slot: i}}
		}
	case phaseFlushed:
		if m.allBefore(at, phaseOffered) {
			s.phase = phaseOffering
			return []action{{kind: actionOffer, slot: i}}
		}
	case phaseOffered:
		if at == 0 {
			s.phase = phaseCommitting
			return []action{{kind: actionCommit, slot: i}}
		}
	case phaseIdle, phaseStale, phaseOpening, phaseFlushing, phaseOffering,
		phaseCommitting, phaseAborting, phaseSettling, phaseEnded:
	}
	return nil
}

// allBefore says whether every transaction in front of place at has come as far
// as p on its way to commit.
func (m *machine) allBefore(at int, p phase) bool {
	for _, j := range m.line[:at] {
		s := &m.slots[j]
		if s.doom != doomNone || s.phase < p || s.phase > phaseCommitting {
			return false
		}
	}
	return true
}
