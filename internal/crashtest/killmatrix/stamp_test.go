package killmatrix_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weirstream/weir/internal/crashtest"
	"github.com/weirstream/weir/internal/crashtest/verdict"
	"github.com/weirstream/weir/internal/faultproxy"
	"github.com/weirstream/weir/internal/kafkatest"
)

// stale is what became of a transaction that outlived its member's session.
type stale struct {
	ended     string   // how it ended, as the worker noted it
	backwards []string // committed offsets that went back
	verdict   verdict.Verdict
}

// TestATransactionThatOutlivesItsSessionIsAborted is the case that the ownership
// stamp is for. A member's transaction has written its outputs and is held
// open. Its group client is cut off for longer than the session, and another
// member takes the partitions and commits past it. Then the member joins anew,
// has a valid identity again, and the transaction goes on to its end.
func TestATransactionThatOutlivesItsSessionIsAborted(t *testing.T) {
	got := outliveSession(t, kafkatest.Start(t), "")
	crashtest.Publish(t, "the held transaction: %s; %v", got.ended, got.verdict)
	require.Contains(t, got.ended, "ended aborted")
	require.Empty(t, got.backwards, "offsets never go back")
	require.True(t, got.verdict.Clean(), got.verdict.String())
}

func outliveSession(t *testing.T, cluster *kafkatest.Cluster, binary string) stale {
	t.Helper()
	s := newScene(t, cluster, cell{lanes: 1})
	s.binary, s.answer = binary, 30*time.Second // a held answer is awaited
	stop := s.watchOffsets()
	s.flow()
	w := s.start(victim)
	s.start("survivor")

	// The transaction is open and its outputs are in the log; the answer that
	// would let it go on is held. Dead peers are fenced only later.
	held := s.catch(wire{key: kmsg.Produce, at: faultproxy.RequestForwarded}, faultproxy.Hold)
	id := idOf(s.wait(held))
	noted := len(w.Notes())
	slow := s.proxy.Add(faultproxy.Rule{
		At: faultproxy.RequestReceived, Client: "survivor", Keys: []kmsg.Key{kmsg.InitProducerID}, Verdict: faultproxy.Hold,
	})
	ends := s.cluster.EndOffsets(t, s.app.Inputs...)[s.app.Inputs[0]]
	apart := s.proxy.Add(faultproxy.Rule{
		At: faultproxy.RequestReceived, Client: victim, Verdict: faultproxy.Cut,
		Keys: []kmsg.Key{kmsg.Heartbeat, kmsg.JoinGroup, kmsg.SyncGroup, kmsg.OffsetFetch, kmsg.Fetch},
	})
	s.poll("the survivor's commits past the held transaction", func() bool {
		at := s.cluster.CommittedOffsets(t, s.app.Group)[s.app.Inputs[0]]
		for p, end := range ends {
			if at[p] < end {
				return false
			}
		}
		return true
	})
	apart.Remove()
	s.poll("the member joined anew", func() bool { return noteOf(w, noted, "assigned of ") != "" })
	held.handle.Release()
	s.poll("the end of the held transaction", func() bool { return endOf(w, noted, id) != "" })
	slow.Release()
	s.more(s.pace())
	s.finish()
	return stale{ended: endOf(w, noted, id), backwards: stop(), verdict: crashtest.Judge(t, cluster, s.app)}
}

// noteOf is the worker's first note with a prefix behind the first n notes.
func noteOf(w *crashtest.Worker, n int, prefix string) string {
	for _, note := range w.Notes()[n:] {
		if strings.HasPrefix(note, prefix) {
			return note
		}
	}
	return ""
}

// endOf is the note of how the next transaction of an id ended.
func endOf(w *crashtest.Worker, n int, id string) string {
	for _, note := range w.Notes()[n:] {
		if strings.HasPrefix(note, "ended ") && strings.Contains(note, " of "+id+" ") {
			return note
		}
	}
	return ""
}

// watchOffsets reads the group's offsets all the time. stop gives the cases in
// which one went back.
func (s *scene) watchOffsets() (stop func() []string) {
	s.t.Helper()
	admin := s.cluster.Admin(s.t)
	ctx, cancel := context.WithCancel(s.ctx)
	s.t.Cleanup(cancel)
	var wg sync.WaitGroup
	var backwards []string
	wg.Go(func() {
		newest := map[int32]int64{}
		for ctx.Err() == nil {
			got, err := admin.FetchOffsets(ctx, s.app.Group)
			if err != nil {
				continue
			}
			got.Each(func(o kadm.OffsetResponse) {
				if o.Err == nil && o.At < newest[o.Partition] {
					backwards = append(backwards, o.Topic)
				}
				newest[o.Partition] = max(newest[o.Partition], o.At)
			})
			wait, done := context.WithTimeout(ctx, 10*time.Millisecond)
			<-wait.Done()
			done()
		}
	})
	return func() []string {
		cancel()
		wg.Wait()
		return backwards
	}
}
