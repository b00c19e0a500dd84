package killmatrix_test

import (
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weirstream/weir/internal/crashtest"
	"github.com/weirstream/weir/internal/faultproxy"
)

// abortAt brings the victim to a step of an abort: an output is refused.
func abortAt(point string) func(*scene, *crashtest.Worker) {
	return func(s *scene, w *crashtest.Worker) {
		s.arm(w, point)
		s.write(poison)
		s.stand(w, point)
	}
}

// idleAfterCommit lets the input end, so that nothing is begun behind the
// transaction at whose end the victim stands.
func (s *scene) idleAfterCommit(w *crashtest.Worker) {
	s.load.Stop(s.t)
	require.NoError(s.t, crashtest.Drained(s.ctx, s.t, s.cluster, s.app))
	s.load = nil
	s.arm(w, "ended committed")
	s.write("last")
	s.stand(w, "ended committed")
	s.write("behind") // for whoever carries on
}

// firstAborts holds back the TxnOffsetCommit of one transaction until the next
// one is flushed, and has the group forget the member meanwhile: the first is
// refused, and both abort.
func (s *scene) firstAborts(w *crashtest.Worker) {
	held := s.catch(wire{key: kmsg.TxnOffsetCommit, at: faultproxy.RequestReceived}, faultproxy.Hold)
	id := idOf(s.wait(held))
	s.poll("the second transaction flushed", func() bool { return last(w, other(id)) == "flushed" })
	s.arm(w, "aborting of "+id)
	client, err := kgo.NewClient(kgo.SeedBrokers(s.cluster.Brokers()...))
	require.NoError(s.t, err)
	defer client.Close()
	_, err = kadm.NewClient(client).LeaveGroup(s.ctx, kadm.LeaveGroup(s.app.Group).InstanceIDs(victim))
	require.NoError(s.t, err)
	held.handle.Release()
	s.stand(w, "aborting of "+id)
}

// firstUnknown loses the reply of the first of two EndTxns while the second is
// ready to send its own: the first is unknown, and the second aborts.
func (s *scene) firstUnknown(w *crashtest.Worker) {
	lost := s.catch(wire{key: kmsg.EndTxn, at: faultproxy.RequestForwarded, with: ends(true)}, faultproxy.Drop)
	id := idOf(s.wait(lost))
	s.poll("the second transaction ready to commit", func() bool { return last(w, other(id)) == "offsets-accepted" })
	s.arm(w, "aborting of "+other(id))
	s.stand(w, "aborting of "+other(id))
}
