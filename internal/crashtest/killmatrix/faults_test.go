package killmatrix_test

import (
	"context"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weirstream/weir/internal/crashtest"
	"github.com/weirstream/weir/internal/faultproxy"
)

// victim is the client.id and instance of the worker that is killed.
const victim = "victim"

// wire is a point on the wire: the victim's first request of a kind, or its
// reply, does not arrive.
type wire struct {
	key  kmsg.Key
	at   faultproxy.Point // RequestReceived: the broker never has it; RequestForwarded: its reply is lost
	with func(*faultproxy.Exchange) bool
}

// ends says that a request is an EndTxn that commits, or aborts.
func ends(commit bool) func(*faultproxy.Exchange) bool {
	return func(e *faultproxy.Exchange) bool {
		req, err := e.Request()
		end, ok := req.(*kmsg.EndTxnRequest)
		return err == nil && ok && end.Commit == commit
	}
}

// ofID says that a request carries the transactional id.
func ofID(id string) func(*faultproxy.Exchange) bool {
	return func(e *faultproxy.Exchange) bool { return idOf(e) == id }
}

// idOf is the transactional id of a request of the transaction protocol.
func idOf(e *faultproxy.Exchange) string {
	req, err := e.Request()
	if err != nil {
		return ""
	}
	switch r := req.(type) {
	case *kmsg.AddOffsetsToTxnRequest:
		return r.TransactionalID
	case *kmsg.TxnOffsetCommitRequest:
		return r.TransactionalID
	case *kmsg.EndTxnRequest:
		return r.TransactionalID
	case *kmsg.InitProducerIDRequest:
		if r.TransactionalID != nil {
			return *r.TransactionalID
		}
	case *kmsg.ProduceRequest:
		if r.TransactionID != nil {
			return *r.TransactionID
		}
	}
	return ""
}

// caught is a frame that a rule acted on.
type caught struct {
	handle *faultproxy.Handle
	frame  chan *faultproxy.Exchange // room for one, the first
}

// catch does what to the victim's first frame of a kind.
func (s *scene) catch(w wire, what faultproxy.Verdict) caught {
	c := caught{frame: make(chan *faultproxy.Exchange, 1)}
	c.handle = s.proxy.Add(faultproxy.Rule{
		At: w.at, Client: victim, Keys: []kmsg.Key{w.key}, Match: w.with, Nth: 1, Verdict: what,
		Call: func(e *faultproxy.Exchange) { c.frame <- e },
	})
	return c
}

// wait returns the frame once it was caught, which is a hit.
func (s *scene) wait(c caught) *faultproxy.Exchange {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	require.NoError(s.t, c.handle.Wait(ctx, 1))
	s.hit = true
	return <-c.frame
}

// stand returns once the worker stands at the point that was armed.
func (s *scene) stand(w *crashtest.Worker, point string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	got, err := w.WaitHit(ctx)
	require.NoError(s.t, err)
	require.Equal(s.t, point, got)
	s.hit = true
}

// arm makes the worker stop at the point when it reaches it next.
func (s *scene) arm(w *crashtest.Worker, point string) {
	s.t.Helper()
	require.NoError(s.t, w.Arm(point, 0))
}
