package rebalance_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/crashtest"
	"github.com/weirstream/weir/internal/crashtest/enginetest"
)

// span is a time.
type span struct{ from, to time.Time }

// gap is a time without a visible output of an input partition.
type gap struct {
	partition int32
	span
}

func (g gap) long() time.Duration { return g.to.Sub(g.from) }

// moves are the times at which partitions were not kept: from the moment at
// which their member was signalled, or gave them up, to the next assignment.
type moves map[int32][]span

// movesOf reads them from what the workers noted. stopped is when a worker was
// signalled; one that was not is absent.
func movesOf(workers []*crashtest.Worker, stopped map[*crashtest.Worker]time.Time) moves {
	gained, gone := map[int32][]time.Time{}, map[int32][]time.Time{}
	for _, w := range workers {
		has := map[int32]bool{}
		for _, n := range enginetest.Notes(w) {
			for _, ids := range n.Partitions {
				for _, id := range ids {
					has[id] = n.Kind == "assigned"
					if has[id] {
						gained[id] = append(gained[id], n.At)
					} else if n.Kind == "revoked" || n.Kind == "partitions-lost" {
						gone[id] = append(gone[id], n.At)
					}
				}
			}
		}
		if at, ok := stopped[w]; ok {
			for id, yes := range has {
				if yes {
					gone[id] = append(gone[id], at)
				}
			}
		}
	}
	out := moves{}
	for id, from := range gone {
		for _, at := range from {
			end := at.Add(time.Hour)
			for _, g := range gained[id] {
				if g.After(at) && g.Before(end) {
					end = g
				}
			}
			out[id] = append(out[id], span{at, end})
		}
	}
	return out
}

// kept are the gaps of partitions that stayed where they were throughout.
func (m moves) kept(seen *enginetest.Seen, within span) []gap {
	var out []gap
	for id := range int32(partitions) {
		times := seen.Times(id)
		for i := 1; i < len(times); i++ {
			g := gap{id, span{times[i-1], times[i]}}
			if g.from.Before(within.from) || g.to.After(within.to) || m.touch(g) {
				continue
			}
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b gap) int { return int(a.long() - b.long()) })
	return out
}

// touch says whether the partition moved during the gap.
func (m moves) touch(g gap) bool {
	for _, s := range m[g.partition] {
		if s.from.Before(g.to) && g.from.Before(s.to) {
			return true
		}
	}
	return false
}

// report prints the distribution and gives the longest gap.
func report(t *testing.T, what string, gaps []gap) time.Duration {
	t.Helper()
	if len(gaps) == 0 {
		return 0
	}
	at := func(share float64) time.Duration {
		return gaps[int(share*float64(len(gaps)-1))].long().Round(time.Millisecond)
	}
	last := gaps[len(gaps)-1]
	crashtest.Publish(t, "%s: %d gaps, p50 %v, p99 %v, p99.9 %v, longest %v (%s)", what, len(gaps), at(0.5), at(0.99), at(0.999),
		last.long().Round(time.Millisecond), fmt.Sprintf("partition %d from %s", last.partition, last.from.Format("15:04:05.000")))
	return last.long()
}
