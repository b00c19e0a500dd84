package faultproxy_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weirstream/weir/internal/faultproxy"
)

var produceOnly = []kmsg.Key{kmsg.Produce}

// TestVerdicts loses one produce at each point. The idempotent producer sends it
// again, so it is always there once in the end; what differs is how often the
// broker got it.
func TestVerdicts(t *testing.T) {
	for _, tc := range []struct {
		name     string
		at       faultproxy.Point
		verdict  faultproxy.Verdict
		brokered int // produce requests that reach the broker
	}{
		{"request dropped", faultproxy.RequestReceived, faultproxy.Drop, 1},
		{"request cut", faultproxy.RequestReceived, faultproxy.Cut, 1},
		{"reply dropped from the start", faultproxy.RequestForwarded, faultproxy.Drop, 2},
		{"cut after forwarding", faultproxy.RequestForwarded, faultproxy.Cut, 2},
		{"reply dropped", faultproxy.ReplyReceived, faultproxy.Drop, 2},
		{"reply cut", faultproxy.ReplyReceived, faultproxy.Cut, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			n := fake(t)
			brokered := n.proxy.Add(faultproxy.Rule{At: faultproxy.RequestForwarded, Keys: produceOnly})
			fault := n.proxy.Add(faultproxy.Rule{At: tc.at, Keys: produceOnly, Nth: 1, Verdict: tc.verdict})
			c := n.client(t, "c", kgo.MetadataMinAge(10*time.Millisecond), kgo.ProduceRequestTimeout(100*time.Millisecond), kgo.RequestTimeoutOverhead(200*time.Millisecond))
			require.NoError(t, produce(n, c, "a"))
			require.Equal(t, 1, fault.Hits())
			require.Equal(t, tc.brokered, brokered.Hits())
			require.Equal(t, []string{"a"}, n.values(t, "t", 1))
			require.EqualValues(t, 1, n.end(t, "t"))
		})
	}
}

func TestNthAndRemove(t *testing.T) {
	n := fake(t)
	c := n.client(t, "c")
	var at atomic.Int64
	every := n.proxy.Add(faultproxy.Rule{At: faultproxy.RequestReceived, Keys: produceOnly})
	third := n.proxy.Add(faultproxy.Rule{
		At: faultproxy.RequestReceived, Keys: produceOnly, Nth: 3,
		Call: func(*faultproxy.Exchange) { at.Store(int64(every.Hits())) },
	})
	for range 5 {
		require.NoError(t, produce(n, c, "x"))
	}
	require.Equal(t, 1, third.Hits())
	require.EqualValues(t, 3, at.Load())
	every.Remove()
	require.NoError(t, produce(n, c, "x"))
	require.Equal(t, 5, every.Hits())

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, third.Wait(ctx, 2), context.Canceled)
	require.NoError(t, third.Wait(ctx, 1))
}

// TestCallSeesTheBrokerAtItsPoint holds what each point promises: nothing is in
// the log at RequestReceived, the record is there and the client does not know
// at ReplyReceived.
func TestCallSeesTheBrokerAtItsPoint(t *testing.T) {
	n := fake(t)
	ends := make(chan int64, 2)
	acked := make(chan error, 1)
	look := func(*faultproxy.Exchange) {
		select {
		case err := <-acked:
			acked <- err
			ends <- -1
		default:
			ends <- n.end(t, "t")
		}
	}
	n.proxy.Add(faultproxy.Rule{At: faultproxy.RequestReceived, Keys: produceOnly, Call: look})
	n.proxy.Add(faultproxy.Rule{At: faultproxy.ReplyReceived, Keys: produceOnly, Call: look})
	c := n.client(t, "c")
	go func() { acked <- produce(n, c, "a") }()
	require.EqualValues(t, 0, <-ends)
	require.EqualValues(t, 1, <-ends)
	require.NoError(t, <-acked)
}

// TestHeldRequestOutlivesItsClient is a zombie's late write: the client is gone
// when the broker gets its request.
func TestHeldRequestOutlivesItsClient(t *testing.T) {
	n := fake(t)
	hold := n.proxy.Add(faultproxy.Rule{
		At: faultproxy.RequestReceived, Keys: produceOnly, Client: "zombie", Verdict: faultproxy.Hold,
	})
	ctx, cancel := context.WithCancel(n.ctx)
	zombie := n.client(t, "zombie")
	zombie.Produce(ctx, &kgo.Record{Value: []byte("late")}, nil)
	require.NoError(t, hold.Wait(n.ctx, 1))
	n.proxy.Block("zombie")
	cancel()
	zombie.Close()

	require.NoError(t, produce(n, n.client(t, "c"), "first"))
	require.EqualValues(t, 1, n.end(t, "t"))
	hold.Release()
	require.Equal(t, []string{"first", "late"}, n.values(t, "t", 2))
}

func TestHeldReply(t *testing.T) {
	n := fake(t)
	hold := n.proxy.Add(faultproxy.Rule{At: faultproxy.ReplyReceived, Keys: produceOnly, Verdict: faultproxy.Hold})
	c := n.client(t, "c")
	acked := make(chan error, 1)
	go func() { acked <- produce(n, c, "a") }()
	require.NoError(t, hold.Wait(n.ctx, 1))
	require.EqualValues(t, 1, n.end(t, "t"))
	require.Empty(t, acked)
	hold.Release()
	require.NoError(t, <-acked)
}

func TestCloseLetsHeldFramesGo(t *testing.T) {
	n := fake(t)
	hold := n.proxy.Add(faultproxy.Rule{At: faultproxy.RequestReceived, Keys: produceOnly, Verdict: faultproxy.Hold})
	c := n.client(t, "c")
	c.Produce(n.ctx, &kgo.Record{Value: []byte("never")}, nil)
	require.NoError(t, hold.Wait(n.ctx, 1))
	n.proxy.Close() // returns only when no goroutine is left
	require.EqualValues(t, 0, n.end(t, "t"))
}
