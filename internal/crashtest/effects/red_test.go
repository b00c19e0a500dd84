package effects_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/internal/crashtest"
)

// red plays the request that was performed and not answered with a worker that
// is wrong on purpose, and gives what the bank counted.
func red(t *testing.T, c class, wrong func(*workerConfig)) tally {
	t.Helper()
	s := newScene(t, c)
	wrong(&s.config)
	s.flow()
	w := s.start(victim)
	s.ready(w)
	open := s.performedUnanswered(w)
	s.kill(w)
	open()
	s.start(victim)
	var got tally
	if s.config.Naive {
		s.load.Stop(t)
		s.drained(s.config.App, s.config.In)
		s.end()
		got = s.tally(nil)
	} else {
		s.finish()
		got = s.tally(s.parked())
	}
	crashtest.Publish(t, "turns red: %v", got)
	return got
}

// The matrix can fail. What follows is red in the cell named in red.

func TestAHandlerThatCallsByItselfDoublesEffects(t *testing.T) {
	got := red(t, reconciled, func(c *workerConfig) { c.Naive = true })
	require.NotZero(t, got.doubled)
	require.False(t, got.clean())
}

func TestAnAttemptThatIsNotDurableBeforeTheCallDoublesEffects(t *testing.T) {
	got := red(t, reconciled, func(c *workerConfig) { c.Forgetful = true })
	require.NotZero(t, got.doubled)
	require.False(t, got.clean())
}
