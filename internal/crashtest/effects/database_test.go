package effects_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/eos/guard"
	"github.com/weirstream/weir/internal/crashtest"
	"github.com/weirstream/weir/internal/devpg"
	"github.com/weirstream/weir/internal/kafkatest"
)

// leastFaults is how often the database goes away in the shortest run.
const leastFaults = 4

// TestTheDatabaseGoesAwayUnderLoad kills and halts PostgreSQL while effects are
// booked, and the application in between. A fault counts only if effects were
// booked within the second before it, and again behind it. The remote knows no
// keys: a claim or a booking that is lost would be an effect that is doubled.
func TestTheDatabaseGoesAwayUnderLoad(t *testing.T) {
	server, err := devpg.Start(t.Context(), devpg.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	s := newSceneOn(t, reconciled, server.DSN("postgres"))
	s.flow()
	w := s.start(victim)
	s.ready(w)
	faults := max(leastFaults, crashtest.Rounds(t))
	for n := range faults {
		s.moreBooked(s.moreBooked(-1))
		end := server.Kill
		if n%2 == 1 {
			end = server.Halt
		}
		require.Less(t, time.Since(s.bookedAt), time.Second, "fault %d met nothing", n)
		require.NoError(t, end(t.Context()))
		if n%4 >= 2 {
			s.kill(w)
		}
		require.NoError(t, server.Restart(t.Context()))
		if n%4 >= 2 {
			w = s.start(victim)
		}
		s.moreBooked(s.moreBooked(-1)) // of this server, not the one before
	}
	s.finish()
	v := crashtest.Judge(t, kafkatest.Start(t), s.app(nil))
	got := s.tally(s.parked())
	crashtest.Publish(t, "%d faults: %v; outcomes: %v", faults, got, v)
	require.True(t, got.clean(), "%v\n%s", got, s.logs())
	require.True(t, v.Clean(), v.String())
	require.Empty(t, s.ledgerFaults(got))
}

// booked is how many effects are done, or -1 while the database is away.
func (s *scene) booked() int {
	n := -1
	if s.db.QueryRow(s.t.Context(), fmt.Sprintf("SELECT count(*) FROM weir.mark WHERE state = %d", guard.Done)).Scan(&n) != nil {
		return -1
	}
	return n
}

// moreBooked waits until more than before are, and says how many. It remembers
// when that was.
func (s *scene) moreBooked(before int) (now int) {
	s.t.Helper()
	s.poll("bookings", func() bool {
		now = s.booked()
		s.bookedAt = time.Now()
		return now > before
	})
	return now
}
