package effects_test

import (
	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/eos/guard/guardtest/remotesim"
	"github.com/weirstream/weir/internal/crashtest"
	"github.com/weirstream/weir/internal/faultproxy"
)

// mode is who carries on.
type mode string

const (
	restart  mode = "same identity restarts"
	takeover mode = "another process takes over"
)

// cell is one field of the matrix.
type cell struct {
	step  step
	class class
	mode  mode
}

// String is the name of the cell.
func (c cell) String() string { return c.Row() + ": " + c.Column() }

// Row is the step.
func (c cell) Row() string { return c.step.name }

// Column is the class and who carries on.
func (c cell) Column() string { return string(c.class) + ", " + string(c.mode) }

// step is where the process dies: brings it there, and what is to be done behind
// its death.
type step struct {
	name string
	die  func(*scene, *crashtest.Worker) (then func())
	// modes are the modes of the step; nil: both.
	modes []mode
}

// at: the process stands at a point of the ledger.
func at(point string) step {
	return step{name: point, die: func(s *scene, w *crashtest.Worker) func() {
		s.stand(w, point)
		return nil
	}}
}

// wire: the end of a transaction is lost on its way there, or its answer.
func wire(name, engine string, point faultproxy.Point) step {
	return step{name: name, die: func(s *scene, _ *crashtest.Worker) func() {
		return s.lose(s.config.App+engine, point).Remove
	}}
}

// steps are those between a record and the word about how its effect ended.
func steps() []step {
	const transform, delivery = "", "-delivery"
	return []step{
		wire("EndTxn of the intents lost", transform, faultproxy.RequestReceived),
		wire("EndTxn of the intents done, its reply lost", transform, faultproxy.RequestForwarded),
		at(beforeAdmit),
		at(admitted),
		wire("EndTxn of the delivery lost", delivery, faultproxy.RequestReceived),
		wire("EndTxn of the delivery done, its reply lost", delivery, faultproxy.RequestForwarded),
		at(claimed),
		{name: "request performed, no answer yet", die: (*scene).performedUnanswered},
		{name: "request arrived, performed after the death", die: (*scene).performedLate},
		at(performed),
		{name: "frozen during the call until its lease is over, then goes on", die: (*scene).frozen, modes: []mode{takeover}},
		at(booked),
		at(beforePublish),
		at(published),
	}
}

// performedUnanswered: the bank has acted.
func (s *scene) performedUnanswered(*crashtest.Worker) func() {
	gate := remotesim.NewGate()
	s.trap(remotesim.ActThenSlow(gate), gate)
	return gate.Open
}

// performedLate: the bank has the request, and acts once somebody has asked again;
// at once if nobody may.
func (s *scene) performedLate(*crashtest.Worker) func() {
	gate := remotesim.NewGate()
	id := s.trap(remotesim.Slow(gate), gate)
	return func() {
		if s.config.Class != atMostOnce {
			s.poll("somebody asks again", func() bool { return s.bank.Posts(id) > 1 || s.bank.Asked(id) > 0 })
		}
		gate.Open()
	}
}

// frozen: the process stands still during the call, another takes the effect over,
// and the first goes on as if nothing had happened. It does not die.
func (s *scene) frozen(w *crashtest.Worker) func() {
	gate := remotesim.NewGate()
	id := s.trap(remotesim.ActThenSlow(gate), gate)
	require.NoError(s.t, w.Freeze())
	s.poll("the effect is in other hands", func() bool {
		return s.bank.Posts(id) > 1 || s.bank.Asked(id) > 0 || s.parked()[id]
	})
	gate.Open()
	require.NoError(s.t, w.Thaw())
	return nil
}

// cells is the whole matrix.
func cells() []cell {
	var all []cell
	for _, st := range steps() {
		modes := st.modes
		if modes == nil {
			modes = []mode{restart, takeover}
		}
		for _, c := range []class{keyed, reconciled, atMostOnce} {
			for _, m := range modes {
				all = append(all, cell{step: st, class: c, mode: m})
			}
		}
	}
	return all
}

// notCells are the fields that there are not, with the reason.
func notCells() []crashtest.Result {
	var out []crashtest.Result
	for _, st := range steps() {
		if st.modes != nil {
			out = append(out, crashtest.Result{
				Row: st.name, Cell: string(restart) + ", each class",
				NotApplicable: "the process lives; only another one can take its effect over",
			})
		}
	}
	return out
}

// run plays the cell up to the end of every effect.
func (s *scene) run(c cell) {
	s.t.Helper()
	s.flow()
	w := s.start(victim)
	s.ready(w)
	if c.mode == takeover {
		s.ready(s.start(survivor))
	}
	then := c.step.die(s, w)
	if c.step.modes == nil {
		s.kill(w)
	}
	if c.mode == restart {
		s.start(victim)
	}
	if then != nil {
		then()
	}
	s.finish()
}
