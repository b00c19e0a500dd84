package killmatrix_test

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weirstream/weir/internal/crashtest"
	"github.com/weirstream/weir/internal/faultproxy"
)

// mode is who carries on.
type mode string

const (
	restart  mode = "same identity restarts"
	takeover mode = "another member takes over"
	alive    mode = "worker stays alive"
)

// cell is one field of the matrix.
type cell struct {
	step    step
	mode    mode
	lanes   int
	session time.Duration // 0: 3s
}

// Row is the step.
func (c cell) Row() string { return fmt.Sprintf("%d %s", c.step.point, c.step.name) }

// Column is who carries on, and how.
func (c cell) Column() string {
	s := fmt.Sprintf("%s, lanes %d", c.mode, c.lanes)
	if c.session > 0 {
		s += fmt.Sprintf(", session %v", c.session)
	}
	return s
}

func (c cell) String() string { return c.Row() + ": " + c.Column() }

// step is a step of the protocol at which the process dies. Exactly one of the
// ways to bring it there is set.
type step struct {
	point int
	name  string

	at    string                          // the engine stands at this step
	wire  *wire                           // the network loses this frame
	stage func(*scene, *crashtest.Worker) // the victim is brought to the step
	alone func(*scene)                    // the whole cell, which has one mode only
	modes []mode                          // those of alone
	keep  *time.Duration                  // how long franz-go waits for answers, if not its default
}

// steps are the points of the kill matrix.
func steps() []step {
	const received, forwarded = faultproxy.RequestReceived, faultproxy.RequestForwarded
	quick := 2 * time.Second
	return []step{
		{point: 1, name: "before InitProducerID", alone: (*scene).killBeforeInit, modes: []mode{restart}},
		{point: 1, name: "after InitProducerID's reply, before join", alone: (*scene).killBeforeJoin, modes: []mode{restart}},
		{point: 1, name: "competitor initialises and joins first", alone: (*scene).competitorFirst, modes: []mode{alive}},
		{point: 1, name: "competitor initialises last, joins first", alone: (*scene).competitorBetween, modes: []mode{alive}},
		{point: 1, name: "competitor initialises and joins last", alone: (*scene).competitorLast, modes: []mode{alive}},

		{point: 2, name: "after poll, before begin", at: "polled"},

		{point: 3, name: "first Produce appended, its reply lost", wire: &wire{key: kmsg.Produce, at: forwarded}},
		{point: 3, name: "first Produce lost", wire: &wire{key: kmsg.Produce, at: received}},

		{point: 4, name: "AddOffsetsToTxn done, its reply lost", wire: &wire{key: kmsg.AddOffsetsToTxn, at: forwarded}},
		{point: 4, name: "AddOffsetsToTxn lost", wire: &wire{key: kmsg.AddOffsetsToTxn, at: received}},
		{point: 4, name: "after AddOffsetsToTxn, before the first Produce", at: "opened"},

		{point: 5, name: "after flush, before TxnOffsetCommit", at: "flushed"},
		{point: 5, name: "TxnOffsetCommit done, its reply lost", wire: &wire{key: kmsg.TxnOffsetCommit, at: forwarded}},
		{point: 5, name: "TxnOffsetCommit lost", wire: &wire{key: kmsg.TxnOffsetCommit, at: received}},
		{point: 5, name: "after TxnOffsetCommit's reply, before EndTxn", at: "offsets-accepted"},

		{point: 6, name: "EndTxn lost", wire: &wire{key: kmsg.EndTxn, at: received, with: ends(true)}},
		{point: 6, name: "EndTxn lost, client retries", alone: (*scene).requestLost, modes: []mode{alive}},
		{point: 6, name: "EndTxn delivered late, during the next transaction", alone: (*scene).commitLate, modes: []mode{alive}},

		{point: 7, name: "EndTxn done, its reply lost", wire: &wire{key: kmsg.EndTxn, at: forwarded, with: ends(true)}},
		{point: 7, name: "EndTxn done, its reply lost, client retries", alone: (*scene).replyLost, modes: []mode{alive}},
		{point: 7, name: "EndTxn lost, coordinator unreachable past the retry budget", alone: (*scene).unreachableBefore, modes: []mode{alive}},
		{point: 7, name: "EndTxn done, coordinator unreachable past the retry budget", alone: (*scene).unreachableAfter, modes: []mode{alive}},
		{point: 7, name: "EndTxn lost, coordinator of one of two ids unreachable past the retry budget", alone: (*scene).unreachableOne, modes: []mode{alive}},

		{point: 8, name: "after EndTxn's reply, before it is booked", at: "answered committed"},
		{point: 8, name: "after EndTxn's reply, before the next begin", stage: (*scene).idleAfterCommit},

		{point: 9, name: "first of two aborts while the second is ready", stage: (*scene).firstAborts},
		{point: 9, name: "first of two is unknown while the second is ready", stage: (*scene).firstUnknown, keep: &quick},

		{point: 10, name: "before EndTxn(abort)", stage: abortAt("aborting")},
		{point: 10, name: "after EndTxn(abort)", stage: abortAt("answered aborted")},
		{point: 10, name: "EndTxn(abort) delivered late, during the next transaction", alone: (*scene).abortLate, modes: []mode{alive}},
	}
}

// cells is the whole matrix.
func cells() []cell {
	var all []cell
	for _, s := range steps() {
		modes := s.modes
		if modes == nil {
			modes = []mode{restart, takeover}
		}
		for _, m := range modes {
			for _, lanes := range []int{1, 3} {
				all = append(all, cell{step: s, mode: m, lanes: lanes})
			}
		}
		if s.at == "offsets-accepted" { // one row with a session that users have
			for _, m := range modes {
				for _, lanes := range []int{1, 3} {
					all = append(all, cell{step: s, mode: m, lanes: lanes, session: 10 * time.Second})
				}
			}
		}
	}
	return all
}

// notCells are the fields that there are not, with the reason.
func notCells() []crashtest.Result {
	var out []crashtest.Result
	for _, s := range steps() {
		if s.modes == nil {
			continue
		}
		why := "the worker stays alive; nothing is taken over"
		if s.point == 1 {
			why = "nothing is joined yet, so nothing can be taken over; a live competitor is a row of its own"
		}
		c := cell{step: s}
		out = append(out, crashtest.Result{Row: c.Row(), Cell: string(takeover) + ", lanes 1 and 3", NotApplicable: why})
	}
	return out
}

// run plays the cell and returns with the input drained and the workers ended.
// Whatever goes wrong ends the test.
func (s *scene) run() {
	s.t.Helper()
	st := s.cell.step
	if st.keep != nil {
		s.answer = *st.keep
	}
	if st.alone != nil {
		st.alone(s)
		s.finish()
		return
	}
	s.flow()
	w := s.start(victim)
	if s.cell.mode == takeover {
		s.start("survivor")
	}
	var lost caught
	switch {
	case st.at != "":
		s.arm(w, st.at)
		s.stand(w, st.at)
	case st.wire != nil:
		lost = s.catch(*st.wire, faultproxy.Drop)
		s.wait(lost)
	default:
		st.stage(s, w)
	}
	s.kill(w)
	if lost.handle != nil {
		lost.handle.Remove()
	}
	if s.cell.mode == restart {
		s.start(victim)
	}
	s.finish()
}
