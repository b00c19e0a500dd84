package crashtest

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"
)

// Storm is a series of SIGKILLs at random times.
type Storm struct {
	// Specs are the workers; each is started, and started again when killed.
	Specs []Spec
	// Kills is how many there are in all, each of a random worker.
	Kills int
	// From and To bound the time between a worker being ready and the next
	// kill; every worker is ready then.
	From, To time.Duration
	// ReadyWithin bounds each start; default 30 s.
	ReadyWithin time.Duration
}

// Run goes through the storm and returns the workers of the last round, one per
// spec, running and ready. A worker that is not ready in time or ends by itself
// fails the test.
func (s Storm) Run(t testing.TB, rng *rand.Rand) []*Worker {
	t.Helper()
	if s.ReadyWithin == 0 {
		s.ReadyWithin = 30 * time.Second
	}
	live := make([]*Worker, len(s.Specs))
	for i, spec := range s.Specs {
		live[i] = Start(t, spec)
	}
	for _, w := range live {
		s.ready(t, w)
	}
	for range s.Kills {
		victim := rng.IntN(len(live))
		after := s.From + time.Duration(rng.Int64N(int64(s.To-s.From)))
		select {
		case <-live[victim].done:
			t.Fatal(live[victim].gone("before it was killed"))
		case <-time.After(after):
		}
		live[victim].Kill()
		live[victim] = Start(t, s.Specs[victim])
		s.ready(t, live[victim])
	}
	return live
}

func (s Storm) ready(t testing.TB, w *Worker) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), s.ReadyWithin)
	defer cancel()
	if err := w.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
}
