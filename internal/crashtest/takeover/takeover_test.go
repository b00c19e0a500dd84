package takeover_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/internal/crashtest"
	"github.com/weirstream/weir/internal/crashtest/enginetest"
)

const (
	partitions = 4
	perSecond  = 200
	session    = 6 * time.Second
)

// rounds is how often each case runs.
func rounds(t *testing.T) int {
	t.Helper()
	return max(crashtest.Rounds(t), 3)
}

func stage(t *testing.T) *enginetest.Stage {
	t.Helper()
	return enginetest.New(t, partitions, enginetest.Config{
		Lanes: 1, Session: session, TransactionTimeout: time.Minute,
	})
}

// holds says that a worker that stood at point has left a transaction open.
func holds(t *testing.T, s *enginetest.Stage) {
	t.Helper()
	s.Poll("the dead transaction is open", func() bool {
		return len(s.Cluster.OpenTransactions(t, s.App.TransactionalIDs)) > 0
	})
}

// committed is a commit with records.
func committed(n enginetest.Note) bool {
	return n.Kind == "ended" && n.Outcome == "committed" && n.Records > 0
}

// TestARestartedProcessCommitsWithinThreeSeconds: the predecessor was killed
// with an open transaction whose time-out is a minute.
func TestARestartedProcessCommitsWithinThreeSeconds(t *testing.T) {
	for _, point := range []string{"flushed", "offsets-accepted"} {
		t.Run(point, func(t *testing.T) {
			s := stage(t)
			seen := s.Watch(s.Base.Output)
			s.Flow(partitions, perSecond)
			w := s.Start("one", true)
			s.Ready(w)
			s.Note(w, 0, "a first commit", committed)
			var commits, visible []time.Duration
			for range rounds(t) {
				require.NoError(t, w.Arm(point, 0))
				s.Stand(w, point)
				s.Kill(w)
				holds(t, s)
				began := time.Now()
				w = s.Start("one", true)
				ends := s.Cluster.EndOffsets(t, s.Base.Input)[s.Base.Input]
				commits = append(commits, s.Note(w, 0, "a commit", committed).At.Sub(began))
				visible = append(visible, firstVisible(s, seen, ends, []int32{0, 1, 2, 3}).Sub(began))
			}
			s.Finish()
			report(t, "process start to first commit, died at "+point, commits)
			report(t, "process start to first visible output, died at "+point, visible)
			require.Less(t, slices.Max(commits), 3*time.Second)
			require.Less(t, slices.Max(visible), 3*time.Second)
			v := crashtest.Judge(t, s.Cluster, s.App)
			require.True(t, v.Clean(), v.String())
		})
	}
}

// TestASurvivorsOutputsAreVisibleSoonAfterTheSession: every partition of the
// dead member, whose transaction holds offsets, or none yet.
func TestASurvivorsOutputsAreVisibleSoonAfterTheSession(t *testing.T) {
	for _, point := range []string{"flushed", "offsets-accepted"} {
		t.Run(point, func(t *testing.T) {
			s := stage(t)
			seen := s.Watch(s.Base.Output)
			s.Flow(partitions, perSecond)
			survivor := s.Start("survivor", true)
			s.Ready(survivor)
			var visible []time.Duration
			for i := range rounds(t) {
				w := s.Start(fmt.Sprintf("victim%d", i), true)
				s.Ready(w)
				s.Note(w, 0, "a first commit", committed)
				require.NoError(t, w.Arm(point, 0))
				s.Stand(w, point)
				taken := owned(w)
				require.NotEmpty(t, taken)
				died := time.Now()
				s.Kill(w)
				holds(t, s)
				ends := s.Cluster.EndOffsets(t, s.Base.Input)[s.Base.Input]
				visible = append(visible, allVisible(s, seen, ends, taken).Sub(died))
				s.Poll("the survivor has every partition", func() bool { return len(owned(survivor)) == partitions })
			}
			s.Finish()
			report(t, "death to visible output of each partition taken over, died at "+point, visible)
			require.Less(t, slices.Max(visible), session+3*time.Second)
			v := crashtest.Judge(t, s.Cluster, s.App)
			require.True(t, v.Clean(), v.String())
		})
	}
}

// owned are the partitions that a worker has.
func owned(w *crashtest.Worker) []int32 {
	has := map[int32]bool{}
	for _, n := range enginetest.Notes(w) {
		for _, ids := range n.Partitions {
			for _, id := range ids {
				has[id] = n.Kind == "assigned"
			}
		}
	}
	var out []int32
	for id, yes := range has {
		if yes {
			out = append(out, id)
		}
	}
	return out
}

// firstVisible is when the first output of any of the partitions came that is
// surely not the dead process's: its input was written after the death.
func firstVisible(s *enginetest.Stage, seen *enginetest.Seen, ends map[int32]int64, ids []int32) time.Time {
	var first time.Time
	s.Poll("a visible output", func() bool {
		for _, id := range ids {
			if at, ok := seen.Beyond(id, ends[id]); ok && (first.IsZero() || at.Before(first)) {
				first = at
			}
		}
		return !first.IsZero()
	})
	return first
}

// allVisible is when the last of the partitions had such an output.
func allVisible(s *enginetest.Stage, seen *enginetest.Seen, ends map[int32]int64, ids []int32) time.Time {
	var last time.Time
	for _, id := range ids {
		if at := firstVisible(s, seen, ends, []int32{id}); at.After(last) {
			last = at
		}
	}
	return last
}

func report(t *testing.T, what string, ds []time.Duration) {
	t.Helper()
	slices.Sort(ds)
	crashtest.Publish(t, "%s: min %v, median %v, max %v of %d", what,
		ds[0].Round(time.Millisecond), ds[len(ds)/2].Round(time.Millisecond), ds[len(ds)-1].Round(time.Millisecond), len(ds))
}
