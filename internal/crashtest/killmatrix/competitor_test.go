package killmatrix_test

import (
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weirstream/weir/internal/crashtest"
	"github.com/weirstream/weir/internal/faultproxy"
)

// rival is the client.id of a competitor. It claims the victim's instance.
const rival = "rival"

// predecessor leaves a transaction open under the victim's identity.
func (s *scene) predecessor() {
	s.t.Helper()
	s.flow()
	w := s.start(victim)
	s.arm(w, "flushed")
	s.stand(w, "flushed")
	s.kill(w)
	s.hit = false
}

// killBeforeInit kills a restarted worker before its first InitProducerID
// arrives.
func (s *scene) killBeforeInit() {
	s.t.Helper()
	s.predecessor()
	lost := s.catch(wire{key: kmsg.InitProducerID, at: faultproxy.RequestReceived}, faultproxy.Drop)
	w := s.begin(s.spec(victim, victim))
	s.wait(lost)
	s.kill(w)
	lost.handle.Remove()
	s.start(victim)
}

// killBeforeJoin kills a restarted worker when all its ids are initialised.
func (s *scene) killBeforeJoin() {
	s.t.Helper()
	s.predecessor()
	w := s.identified()
	s.kill(w)
	s.start(victim)
}

// identified starts a worker and has it stand before it joins.
func (s *scene) identified() *crashtest.Worker {
	s.t.Helper()
	spec := s.spec(victim, victim)
	spec.Arm = "identified"
	w := s.begin(spec)
	s.stand(w, "identified")
	return w
}

// competitorFirst: while the worker's InitProducerID is on its way, a process
// with the same identity initialises, joins and works. The worker comes later
// and wins.
func (s *scene) competitorFirst() {
	s.t.Helper()
	s.predecessor()
	held := s.proxy.Add(faultproxy.Rule{
		At: faultproxy.RequestReceived, Client: victim, Keys: []kmsg.Key{kmsg.InitProducerID}, Verdict: faultproxy.Hold,
	})
	w := s.begin(s.spec(victim, victim))
	s.poll("InitProducerID held", func() bool { return held.Hits() > 0 })
	s.hit = true
	other := s.begin(s.spec(rival, victim))
	s.ready(other)
	held.Release()
	s.wins(w, other)
}

// competitorBetween: the worker has initialised its ids and stands before it
// joins, when a process with the same identity initialises them too, joins and
// works. The worker joins later and wins.
func (s *scene) competitorBetween() {
	s.t.Helper()
	s.predecessor()
	w := s.identified()
	other := s.begin(s.spec(rival, victim))
	s.ready(other)
	require.NoError(s.t, w.Release())
	s.wins(w, other)
}

// competitorLast: the worker works, when a process with the same identity
// comes, and wins.
func (s *scene) competitorLast() {
	s.t.Helper()
	s.predecessor()
	w := s.start(victim)
	other := s.begin(s.spec(rival, victim))
	s.hit = true
	s.wins(other, w)
}

// wins holds that the newer process works and the older one has ended because
// of it, and says so.
func (s *scene) wins(newer, older *crashtest.Worker) {
	s.t.Helper()
	s.ready(newer)
	s.poll("the end of the older process", func() bool {
		select {
		case <-older.Done():
			return true
		default:
			return false
		}
	})
	s.gone(older)
	require.Contains(s.t, older.Tail(), "worker engine:", "it ended with an error")
	require.Contains(s.t, older.Tail(), "another process", older.Tail())
}
