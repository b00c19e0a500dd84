package rebalance_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/internal/crashtest"
	"github.com/weirstream/weir/internal/crashtest/enginetest"
)

const (
	partitions = 12
	members    = 3
	session    = 6 * time.Second
	// still is how long a partition that is kept may show no output.
	still = 500 * time.Millisecond
)

// group is three members under load.
type group struct {
	*enginetest.Stage
	t       *testing.T
	seen    *enginetest.Seen // the output
	control *enginetest.Seen // the input: how still the machine itself stands
	static  bool
	now     [members]*crashtest.Worker
	all     []*crashtest.Worker
	stopped map[*crashtest.Worker]time.Time
}

func newGroup(t *testing.T, perSecond int, static bool) *group {
	t.Helper()
	g := &group{t: t, static: static, stopped: map[*crashtest.Worker]time.Time{}, Stage: enginetest.New(t, partitions, enginetest.Config{
		Lanes: 1, Session: session, TransactionTimeout: time.Minute,
	})}
	g.seen, g.control = g.Watch(g.Base.Output), g.Watch(g.Base.Input)
	g.Flow(partitions, perSecond)
	for i := range members {
		g.start(i)
		g.Ready(g.now[i])
	}
	g.pass(3 * time.Second)
	return g
}

func (g *group) start(i int) {
	g.now[i] = g.Start(fmt.Sprintf("member%d", i), g.static)
	g.all = append(g.all, g.now[i])
}

// stop sends SIGTERM to member i and awaits its end.
func (g *group) stop(i int) {
	g.t.Helper()
	g.stopped[g.now[i]] = time.Now()
	g.Terminate(g.now[i])
}

// pass lets a time of the scenario go by.
func (g *group) pass(d time.Duration) {
	ctx, cancel := context.WithTimeout(g.t.Context(), d)
	defer cancel()
	<-ctx.Done()
}

// judge ends the run and gives its verdict.
func (g *group) judge() {
	g.t.Helper()
	g.Finish()
	v := crashtest.Judge(g.t, g.Cluster, g.App)
	crashtest.Publish(g.t, "%v", v)
	require.True(g.t, v.Clean(), v.String())
}

// outcomes counts the ends of transactions with records.
func (g *group) outcomes() (ended, committed int, other map[string]int) {
	other = map[string]int{}
	for _, w := range g.all {
		for _, n := range enginetest.Notes(w) {
			switch {
			case n.Kind != "ended" || n.Records == 0:
			case n.Outcome == "committed":
				ended, committed = ended+1, committed+1
			default:
				ended++
				other[n.Outcome+" "+n.Reason]++
			}
		}
	}
	return ended, committed, other
}

// rolling is how long the members are restarted in turn: two minutes in a proof.
func rolling() time.Duration {
	if os.Getenv("WEIR_PROOF_ROUNDS") != "" {
		return 2 * time.Minute
	}
	return 20 * time.Second
}

// TestARollingRestartWastesLittleAndStopsNoKeptPartition: one member after the
// other is restarted by SIGTERM, every three seconds.
func TestARollingRestartWastesLittleAndStopsNoKeptPartition(t *testing.T) {
	for _, static := range []bool{true, false} {
		name := "generated instance ids, given up at each end"
		if static {
			name = "configured instance ids"
		}
		t.Run(name, func(t *testing.T) {
			g := newGroup(t, 5000, static)
			calm := report(t, "visible gaps before, nothing moves", movesOf(g.all, g.stopped).kept(g.seen, span{time.Now().Add(-2 * time.Second), time.Now()}))
			began := time.Now()
			for i := 0; time.Since(began) < rolling(); i++ {
				next := time.Now().Add(3 * time.Second)
				g.stop(i % members)
				g.start(i % members)
				g.Ready(g.now[i%members])
				g.pass(time.Until(next))
			}
			control := report(t, "control: visible gaps of the input", moves{}.kept(g.control, span{began, time.Now()}))
			longest := report(t, "visible gaps of kept partitions", movesOf(g.all, g.stopped).kept(g.seen, span{began, time.Now()}))
			ended, committed, other := g.outcomes()
			crashtest.Publish(t, "%d of %d transactions committed (%.2f %%), the others: %v; longest calm gap %v", committed, ended, 100*float64(committed)/float64(ended), other, calm)
			g.judge()
			require.GreaterOrEqual(t, float64(committed), 0.95*float64(ended), "%v", other)
			if os.Getenv("WEIR_PROOF_ROUNDS") == "" && control > still/2 {
				t.Logf("the machine itself stood still for %v: the longest gap, %v, is not judged here; a proof judges it always", control, longest)
				return
			}
			require.LessOrEqual(t, longest, still)
		})
	}
}

// TestAFrozenMemberComesBack: SIGSTOP for one and a half sessions, then SIGCONT.
func TestAFrozenMemberComesBack(t *testing.T) {
	g := newGroup(t, 1000, true)
	began := time.Now()
	require.NoError(t, g.now[1].Freeze())
	g.pass(session * 3 / 2)
	require.NoError(t, g.now[1].Thaw())
	g.Note(g.now[1], 0, "it joins again", func(n enginetest.Note) bool {
		return n.Kind == "assigned" && n.At.After(began) && len(n.Partitions) > 0
	})
	g.pass(2 * time.Second)
	_, _, other := g.outcomes()
	t.Logf("transactions that did not commit: %v", other)
	g.judge()
}

// TestMembersJoinAndLeaveInStorms: members come and go at random, several at
// once, by SIGTERM and by SIGKILL.
func TestMembersJoinAndLeaveInStorms(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	g := newGroup(t, 1000, false)
	ready := [members]bool{true, true, true}
	for range 10 {
		i := rng.IntN(members)
		if rng.IntN(4) == 0 || !ready[i] { // before it is set up, SIGTERM is no clean end
			g.Kill(g.now[i])
		} else {
			g.stop(i)
		}
		g.pass(time.Duration(rng.IntN(700)) * time.Millisecond)
		g.start(i)
		g.pass(time.Duration(rng.IntN(700)) * time.Millisecond)
		if ready[i] = rng.IntN(2) == 0; ready[i] {
			g.Ready(g.now[i])
		}
	}
	g.Ready(g.now[:]...)
	_, _, other := g.outcomes()
	t.Logf("transactions that did not commit: %v", other)
	g.judge()
}
