package demo

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAPlanKillsTheLivingOften(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		for _, workers := range []int{2, 3, 5} {
			for _, seconds := range []int{minSeconds, 20, 60} {
				flow := time.Duration(seconds) * time.Second
				plan := killPlan(rand.New(rand.NewPCG(seed, 2)), flow, workers)
				require.GreaterOrEqual(t, len(plan), minKills)
				gone, back := map[int]bool{}, make([]time.Duration, workers)
				last := time.Duration(0)
				for _, k := range plan {
					require.Greater(t, k.at, last, "seed %d: %v", seed, plan)
					require.Less(t, k.at+k.back, flow)
					require.False(t, gone[k.worker], "seed %d: %v", seed, plan)
					require.Greater(t, k.at, back[k.worker], "seed %d: killed while down: %v", seed, plan)
					gone[k.worker], back[k.worker], last = k.back == 0, k.at+k.back, k.at
				}
				down := 0
				for _, g := range gone {
					if g {
						down++
					}
				}
				require.LessOrEqual(t, down, workers-2, "at least two go on")
				require.Equal(t, workers > 2, down > 0, "one is taken over from")
				require.Equal(t, plan, killPlan(rand.New(rand.NewPCG(seed, 2)), flow, workers), "the seed decides")
			}
		}
	}
}
