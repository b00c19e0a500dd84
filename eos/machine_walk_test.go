package eos

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	machineSeed  = flag.Uint64("machine.seed", 1, "first seed of the machine's random walks")
	machineWalks = flag.Uint64("machine.walks", 20000, "how many random walks of the machine")
)

// Every walk ends with each output visible once and in order and the offset at
// the end, whatever was lost, late, refused or fenced on the way.
func TestMachineRandomWalks(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for seed := *machineSeed; seed < *machineSeed+*machineWalks; seed++ {
		r := rand.New(rand.NewPCG(seed, 0))
		l := newModelLane(2+int(seed%2), r.IntN)
		l.walk(200, seen)
		require.Empty(t, l.broker.faults, "seed %d (-machine.seed=%d -machine.walks=1)", seed, seed)
	}
	for _, fate := range modelFates {
		for _, kind := range []actionKind{actionOpen, actionFlush, actionOffer, actionCommit, actionAbort} {
			require.NotZero(t, seen[actionWords[kind]+" "+fate], "no walk had %s %s", actionWords[kind], fate)
		}
	}
	t.Logf("seeds %d to %d: %s", *machineSeed, *machineSeed+*machineWalks-1, summary(seen))
}

// FuzzMachine walks by the choices in data; the walk ends with them.
func FuzzMachine(f *testing.F) {
	f.Add(false, []byte{})
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 1))
		data := make([]byte, 400)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(seed%2 == 0, data)
	}
	f.Fuzz(func(t *testing.T, three bool, data []byte) {
		slots := 2
		if three {
			slots = 3
		}
		l := newModelLane(slots, func(n int) int {
			if len(data) == 0 {
				return 0
			}
			c := int(data[0]) % n
			data = data[1:]
			return c
		})
		l.walk(min(len(data), 2000), map[string]int{})
		require.Empty(t, l.broker.faults)
	})
}

func summary(seen map[string]int) string {
	var out []string
	for k, n := range seen {
		out = append(out, fmt.Sprintf("%s %d", k, n))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// walk makes n choices, then lets everything succeed until the input is
// processed.
func (l *modelLane) walk(n int, seen map[string]int) {
	for range n {
		moves := l.moves(seen, true)
		moves[l.choose(len(moves))]()
		if len(l.broker.faults) > 0 {
			return
		}
	}
	l.choose = func(int) int { return 0 }
	for range 40 * modelInputs {
		if len(l.broker.faults) > 0 {
			return
		}
		moves := l.moves(seen, false)
		if len(moves) == 0 {
			break
		}
		moves[0]()
	}
	if len(l.line) > 0 || len(l.queue) > 0 || l.replay != nil || !l.owned {
		l.broker.fault("the walk does not end")
	}
	l.broker.verdict()
}

// moves lists what can happen now; trouble adds what should not.
func (l *modelLane) moves(seen map[string]int, trouble bool) []func() {
	var moves []func()
	add := func(weight int, move func()) {
		for range weight {
			moves = append(moves, move)
		}
	}
	for i := range l.slots {
		if l.slots[i].flight != nil {
			add(6, func() { l.progress(i, seen, trouble) })
		}
	}
	if l.replay != nil && l.broker.stable() {
		add(4, l.finishReplay)
	}
	if !l.owned && l.broker.stable() {
		add(2, func() {
			l.broker.rival(l.choose(4))
			l.assign()
		})
	}
	filling := l.m.filling
	if filling >= 0 {
		if len(l.queue) > 0 {
			add(6, func() { l.process(filling) })
		}
		if trouble && l.m.ahead < 0 && !l.failed {
			add(2, func() { l.feed(event{kind: eventAhead}) })
		}
		if len(l.slots[filling].inputs) > 1 || len(l.queue) == 0 || trouble {
			moves = append(moves, func() { l.feed(event{kind: eventClose}) })
			if !trouble {
				moves[0], moves[len(moves)-1] = moves[len(moves)-1], moves[0]
			}
		}
	} else if len(l.queue) > 0 && (trouble || (!l.failed && l.replay == nil && len(l.line) < len(l.slots))) {
		add(4, func() { l.feed(event{kind: eventBegin}) })
	}
	if trouble {
		l.troubles(add)
	}
	return moves
}

// troubles are the events that nobody asked for.
func (l *modelLane) troubles(add func(int, func())) {
	add(1, func() { // a rare one of the rare
		if l.choose(8) != 7 {
			return
		}
		switch l.choose(4) {
		case 0: // the deadline passed
			l.doomAll(ReasonDeadline)
		case 1: // the partitions are lost: told twice
			l.lose()
		case 2: // the id was taken, or its transaction timed out
			l.broker.initialise(l.choose(len(l.slots)))
		case 3: // an output of a transaction is refused, or in doubt
			l.refuse(l.choose(len(l.slots)), l.choose(2) == 1)
		}
	})
	if len(l.broker.late) > 0 {
		add(2, func() {
			i := l.choose(len(l.broker.late))
			r := l.broker.late[i]
			l.broker.late = slices.Delete(l.broker.late, i, i+1)
			l.broker.apply(r)
		})
	}
}

func (l *modelLane) doomAll(why Reason) {
	l.failed = l.failed || (len(l.line) > 0 && l.replay == nil)
	l.feed(event{kind: eventDoomAll, reason: why})
}

func (l *modelLane) lose() {
	if l.owned {
		l.broker.owner++
		l.owned, l.queue = false, nil
	}
	l.doomAll(ReasonLost)
	l.doomAll(ReasonLost)
}

func (l *modelLane) refuse(i int, doubt bool) {
	s := &l.slots[i]
	if !slices.Contains(l.line, i) || l.replay != nil || s.flushed || len(s.inputs) == 0 || !s.let {
		return
	}
	s.refused, s.doubt = true, s.doubt || doubt
	if doubt {
		last := s.inputs[len(s.inputs)-1].offset
		l.broker.late = append(l.broker.late, modelRequest{kind: actionRelease, id: i, epoch: s.epoch, inputs: []int{last}})
	}
	l.failed = true
	l.feed(event{kind: eventDoomed, slot: i, reason: ReasonProduce})
}

// process takes one record into the filling slot.
func (l *modelLane) process(i int) {
	s := &l.slots[i]
	in := l.queue[0]
	l.queue = l.queue[1:]
	s.inputs = append(s.inputs, in)
	if modelOutput(in.offset) {
		s.held = append(s.held, in.offset)
	}
	if s.let {
		l.produce(i)
	}
}
