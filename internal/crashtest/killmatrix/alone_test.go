package killmatrix_test

import (
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weirstream/weir/internal/faultproxy"
)

// requestLost: the connection breaks with EndTxn in it, before the broker has
// it. franz-go sends it again.
func (s *scene) requestLost() {
	s.cut(wire{key: kmsg.EndTxn, at: faultproxy.RequestReceived, with: ends(true)})
}

// replyLost: the connection breaks after the broker took EndTxn. franz-go sends
// it again.
func (s *scene) replyLost() {
	s.cut(wire{key: kmsg.EndTxn, at: faultproxy.RequestForwarded, with: ends(true)})
}

func (s *scene) cut(w wire) {
	s.t.Helper()
	s.flow()
	s.start(victim)
	s.wait(s.catch(w, faultproxy.Cut))
	s.more(s.pace())
}

// unreachableBefore: no EndTxn and no InitProducerID arrives until franz-go has
// given up on the commit.
func (s *scene) unreachableBefore() {
	s.t.Helper()
	s.impatient()
	s.unreachable(nil)
}

// unreachableAfter: the first EndTxn arrives, but its reply and whatever else is
// sent to the coordinator is lost, until franz-go has given up on the commit.
func (s *scene) unreachableAfter() {
	s.t.Helper()
	s.impatient()
	s.wait(s.catch(wire{key: kmsg.EndTxn, at: faultproxy.RequestForwarded, with: ends(true)}, faultproxy.Cut))
	s.unreachable(nil)
}

// unreachableOne: as unreachableBefore, but for one of the two ids of a lane.
// The transaction behind the one in doubt could commit.
func (s *scene) unreachableOne() {
	s.t.Helper()
	s.impatient()
	first := s.wait(s.catch(wire{key: kmsg.EndTxn, at: faultproxy.RequestReceived, with: ends(true)}, faultproxy.Cut))
	s.unreachable(ofID(idOf(first)))
}

// impatient starts a victim whose franz-go gives up early.
func (s *scene) impatient() {
	s.t.Helper()
	s.retry = 2 * time.Second
	s.flow()
	s.start(victim)
}

// unreachable cuts off the coordinator until an id is initialised anew: by then
// the engine has no answer to EndTxn.
func (s *scene) unreachable(which func(*faultproxy.Exchange) bool) {
	s.t.Helper()
	rest := s.proxy.Add(faultproxy.Rule{
		At: faultproxy.RequestReceived, Client: victim, Match: which, Verdict: faultproxy.Cut,
		Keys: []kmsg.Key{kmsg.EndTxn, kmsg.InitProducerID},
	})
	s.wait(s.catch(wire{key: kmsg.InitProducerID, at: faultproxy.RequestReceived, with: which}, faultproxy.Cut))
	rest.Remove()
	s.more(s.pace())
}

// commitLate: the broker gets the first copy of EndTxn(commit) when the same
// transactional.id has its next transaction, with records in it. franz-go's own
// copy had succeeded.
func (s *scene) commitLate() {
	s.t.Helper()
	s.answer = time.Second
	s.flow()
	w := s.start(victim)
	held := s.catch(wire{key: kmsg.EndTxn, at: faultproxy.RequestReceived, with: ends(true)}, faultproxy.Hold)
	id := idOf(s.wait(held))
	s.deliver(held, func() {
		s.arm(w, "flushed of "+id)
		s.stand(w, "flushed of "+id)
	})
	require.NoError(s.t, w.Release())
	s.more(s.pace())
}

// abortLate: the same with EndTxn(abort).
func (s *scene) abortLate() {
	s.t.Helper()
	s.answer = time.Second
	s.flow()
	w := s.start(victim)
	held := s.catch(wire{key: kmsg.EndTxn, at: faultproxy.RequestReceived, with: ends(false)}, faultproxy.Hold)
	s.write(poison)
	id := idOf(s.wait(held))
	s.deliver(held, func() {
		s.arm(w, "flushed of "+id)
		s.stand(w, "flushed of "+id)
	})
	require.NoError(s.t, w.Release())
	s.more(s.pace())
}

// deliver lets go a held EndTxn once next says so, and waits for the broker's
// answer to it.
func (s *scene) deliver(held caught, next func()) {
	s.t.Helper()
	next()
	answered := s.proxy.Add(faultproxy.Rule{At: faultproxy.ReplyReceived, Client: victim, Keys: []kmsg.Key{kmsg.EndTxn}})
	held.handle.Release()
	s.poll("the answer to the late EndTxn", func() bool { return answered.Hits() > 0 })
	answered.Remove()
}
