package demo

import (
	"math/rand/v2"
	"time"
)

// kill is one SIGKILL of the workers of one number.
type kill struct {
	at     time.Duration // since records began to flow
	worker int
	back   time.Duration // after which it is started again; 0: never, others take over
}

// killPlan spreads kills at random over the flow: one for every 2.5 seconds, at
// least 5, in slices of equal length so that a restarted worker gets to work. The
// second kill is for good, and every third after it as long as two workers are
// left.
func killPlan(rng *rand.Rand, flow time.Duration, workers int) []kill {
	n := max(minKills, int(flow/(2500*time.Millisecond)))
	from, to := flow/10, flow*9/10
	slice := (to - from) / time.Duration(n)
	alive := make([]int, workers)
	for i := range alive {
		alive[i] = i
	}
	var plan []kill
	last := -1
	for i := range n {
		k := kill{
			at:     from + time.Duration(i)*slice + upTo(rng, slice/2),
			worker: alive[rng.IntN(len(alive))],
			back:   100*time.Millisecond + upTo(rng, 400*time.Millisecond),
		}
		for k.worker == last { // it may still be starting
			k.worker = alive[rng.IntN(len(alive))]
		}
		last = k.worker
		if i%3 == 1 && len(alive) > 2 {
			k.back = 0
			alive = without(alive, k.worker)
			last = -1
		}
		plan = append(plan, k)
	}
	return plan
}

func without(list []int, v int) []int {
	var left []int
	for _, x := range list {
		if x != v {
			left = append(left, x)
		}
	}
	return left
}

func upTo(rng *rand.Rand, d time.Duration) time.Duration { return time.Duration(rng.Int64N(int64(d))) }
