package latepackets_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sync/semaphore"

	"github.com/weirstream/weir/internal/crashtest"
	"github.com/weirstream/weir/internal/crashtest/enginetest"
	"github.com/weirstream/weir/internal/faultproxy"
	"github.com/weirstream/weir/internal/kafkatest"
)

const (
	client     = "worker"
	partitions = 6
	perSecond  = 200
	// atOnce is how many cases run side by side: they mostly wait.
	atOnce = 5
)

// TestLostAndLatePackets: the worker lives on; every output is there once, and
// offsets never go back.
func TestLostAndLatePackets(t *testing.T) {
	cluster := kafkatest.Start(t)
	all := faults()
	met := make([]*crashtest.App, len(all)) // nil: left out by -run
	room := semaphore.NewWeighted(atOnce)
	t.Run("faults", func(t *testing.T) {
		for i, f := range all {
			t.Run(f.String(), func(t *testing.T) {
				t.Parallel()
				require.NoError(t, room.Acquire(t.Context(), 1))
				defer room.Release(1)
				app := meet(t, f)
				met[i] = &app
			})
		}
	})
	require.False(t, t.Failed())
	var apps []crashtest.App
	var names []string
	for i, app := range met {
		if app != nil {
			apps, names = append(apps, *app), append(names, all[i].String())
		}
	}
	var wrong []string
	for i, v := range crashtest.JudgeAll(t, cluster, apps...) {
		crashtest.Publish(t, "%s: %v", names[i], v)
		if !v.Clean() {
			wrong = append(wrong, names[i]+": "+v.String())
		}
	}
	require.Empty(t, wrong)
}

// scene is a case under way.
type scene struct {
	*enginetest.Stage
	t      *testing.T
	fault  fault
	worker *crashtest.Worker
	id     string // whose request it is
	noted  int    // before the fault
}

func meet(t *testing.T, f fault) crashtest.App {
	t.Helper()
	s := &scene{t: t, fault: f, Stage: enginetest.New(t, partitions, enginetest.Config{
		Lanes: f.lanes, Session: 10 * time.Second, TransactionTimeout: 15 * time.Second, Answer: f.answer(), Retry: f.retry(),
	})}
	stop := s.WatchOffsets()
	s.Flow(partitions, perSecond)
	s.worker = s.Start(client, true)
	s.Note(s.worker, 0, "a first commit", func(n enginetest.Note) bool { return n.Outcome == "committed" && n.Records > 0 })
	s.noted = len(enginetest.Notes(s.worker))
	switch f.how {
	case requestLost, replyLost:
		s.lose()
	case lateBefore, lateAfter:
		s.delay()
	}
	s.ended()
	s.Note(s.worker, len(enginetest.Notes(s.worker)), "a later commit of the id", func(n enginetest.Note) bool {
		return n.Kind == "ended" && n.Outcome == "committed" && n.ID == s.id && n.Records > 0
	})
	s.Finish()
	backwards, reads := stop()
	require.Greater(t, reads, 20)
	require.Empty(t, backwards)
	return s.App
}

// catch does what to the request of the fault, and to its further copies if
// none is to succeed. It returns when the first is caught.
func (s *scene) catch(at faultproxy.Point, what faultproxy.Verdict) *faultproxy.Handle {
	s.t.Helper()
	first := make(chan *faultproxy.Exchange, 1)
	key := s.fault.key
	h := s.Proxy.Add(faultproxy.Rule{
		At: at, Client: client, Keys: []kmsg.Key{key}, Nth: 1, Verdict: what,
		Match: func(e *faultproxy.Exchange) bool { return idOf(e) != "" },
		Call: func(e *faultproxy.Exchange) {
			if !s.fault.resent {
				s.Proxy.Add(faultproxy.Rule{
					At: at, Client: client, Keys: []kmsg.Key{key}, Verdict: faultproxy.Drop,
					Match: func(o *faultproxy.Exchange) bool { return idOf(o) == idOf(e) && !s.reported(idOf(e)) },
				})
			}
			first <- e
		},
	})
	s.wait(h, 1)
	s.id = idOf(<-first)
	return h
}

func (s *scene) wait(h *faultproxy.Handle, n int) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
	defer cancel()
	require.NoError(s.t, h.Wait(ctx, n), "the fault was not met")
}

// lose drops the request or its reply.
func (s *scene) lose() {
	at := faultproxy.RequestReceived
	if s.fault.how == replyLost {
		at = faultproxy.RequestForwarded
	}
	what := faultproxy.Drop
	if s.fault.resent {
		what = faultproxy.Cut // the client resends at once
	}
	s.catch(at, what)
}

// delay holds the first copy, and delivers it when the others have had their
// fate.
func (s *scene) delay() {
	s.t.Helper()
	init := s.Proxy.Add(faultproxy.Rule{
		At: faultproxy.RequestReceived, Client: client, Keys: []kmsg.Key{kmsg.InitProducerID}, Verdict: faultproxy.Hold,
		Match: func(*faultproxy.Exchange) bool { return s.fault.how == lateBefore },
	})
	held := s.catch(faultproxy.RequestReceived, faultproxy.Hold)
	if s.fault.resent {
		s.Proxy.Block(client) // what it has sent stays under way
		s.Proxy.Unblock(client)
	}
	if s.fault.how == lateBefore {
		s.wait(init, 1)
		s.deliver(held)
		init.Release()
		return
	}
	// Behind the fault, the next transaction of the id stands with its outputs
	// written when the first copy comes.
	point := "flushed of " + s.id
	s.ended()
	require.NoError(s.t, s.worker.Arm(point, 0))
	s.Stand(s.worker, point)
	s.deliver(held)
	require.NoError(s.t, s.worker.Release())
}

// deliver lets the held copy go and waits for the broker's answer to it.
func (s *scene) deliver(held *faultproxy.Handle) {
	s.t.Helper()
	answered := s.Proxy.Add(faultproxy.Rule{
		At: faultproxy.ReplyReceived, Client: client, Keys: []kmsg.Key{s.fault.key},
		Match: func(e *faultproxy.Exchange) bool { return idOf(e) == s.id },
		Call: func(e *faultproxy.Exchange) {
			reply, err := e.Reply()
			s.t.Logf("the late copy was answered: %+v %v", reply, err)
		},
	})
	held.Release()
	s.wait(answered, 1)
	answered.Remove()
}

// reported says whether the worker has noted the fault's outcome.
func (s *scene) reported(id string) bool {
	for _, n := range enginetest.Notes(s.worker)[s.noted:] {
		if n.ID == id && n.Kind == "ended" && n.Outcome == "unknown" {
			return true
		}
	}
	return false
}

// ended has the engine say of the fault's transaction what it must.
func (s *scene) ended() {
	s.t.Helper()
	n := s.Note(s.worker, s.noted, "the unknown outcome", func(n enginetest.Note) bool {
		return n.ID == s.id && n.Kind == "ended" && n.Outcome == "unknown"
	})
	require.Contains(s.t, n.Reason, s.fault.reason(), "%+v", n)
}
