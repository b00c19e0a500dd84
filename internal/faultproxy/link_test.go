package faultproxy_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weirstream/weir/internal/faultproxy"
)

// TestLatencyIsExact compares round trips with and without 2.5 ms each way. The
// median decides: a busy machine adds to single ones.
func TestLatencyIsExact(t *testing.T) {
	n := fake(t)
	c := n.client(t, "c")
	median := func() time.Duration {
		var took []time.Duration
		for range 101 {
			started := time.Now()
			_, err := kmsg.NewPtrApiVersionsRequest().RequestWith(n.ctx, c)
			require.NoError(t, err)
			took = append(took, time.Since(started))
		}
		slices.Sort(took)
		return took[len(took)/2]
	}
	base := median()
	n.proxy.SetLink("", faultproxy.Link{Latency: 2500 * time.Microsecond})
	added := median() - base
	t.Logf("round trip %v without, %v more with 2.5 ms each way", base, added)
	require.InDelta(t, 5*time.Millisecond, added, float64(time.Millisecond))
}

// TestLatencyIsPipelined has five requests in flight: together they take about
// one round trip, not five.
func TestLatencyIsPipelined(t *testing.T) {
	n := fake(t)
	c := n.client(t, "c", kgo.DisableIdempotentWrite(), kgo.RequiredAcks(kgo.LeaderAck()),
		kgo.MaxProduceRequestsInflightPerBroker(5), kgo.ProducerBatchMaxBytes(1024), kgo.ProducerLinger(0))
	require.NoError(t, produce(n, c, "warm"))
	const latency = 100 * time.Millisecond
	n.proxy.SetLink(n.brokers[0], faultproxy.Link{Latency: latency})
	produced := n.proxy.Add(faultproxy.Rule{At: faultproxy.RequestForwarded, Keys: produceOnly})
	started := time.Now()
	for range 5 {
		c.Produce(n.ctx, &kgo.Record{Value: make([]byte, 900)}, nil)
	}
	require.NoError(t, c.Flush(n.ctx))
	took := time.Since(started)
	require.Greater(t, produced.Hits(), 1)
	require.GreaterOrEqual(t, took, 2*latency)
	require.Less(t, took, 2*2*latency)
}

func TestThrottle(t *testing.T) {
	n := fake(t)
	c := n.client(t, "c", kgo.ProducerBatchCompression(kgo.NoCompression()))
	require.NoError(t, produce(n, c, "warm"))
	n.proxy.SetLink("", faultproxy.Link{BytesPerSecond: 100_000})
	started := time.Now()
	require.NoError(t, produce(n, c, string(make([]byte, 50_000))))
	require.InDelta(t, 500*time.Millisecond, time.Since(started), float64(250*time.Millisecond))
}

func TestDelay(t *testing.T) {
	n := fake(t)
	c := n.client(t, "c")
	require.NoError(t, produce(n, c, "warm"))
	n.proxy.Add(faultproxy.Rule{At: faultproxy.ReplyReceived, Keys: produceOnly, Nth: 1, Delay: 200 * time.Millisecond})
	started := time.Now()
	require.NoError(t, produce(n, c, "a"))
	require.GreaterOrEqual(t, time.Since(started), 200*time.Millisecond)
}

func TestBlockOneClient(t *testing.T) {
	n := fake(t)
	blocked, other := n.client(t, "blocked"), n.client(t, "other")
	require.NoError(t, produce(n, blocked, "1"))
	n.proxy.Block("blocked")
	ctx, cancel := context.WithTimeout(n.ctx, 300*time.Millisecond)
	defer cancel()
	require.Error(t, blocked.Ping(ctx))
	require.NoError(t, other.Ping(n.ctx))
	n.proxy.Unblock("blocked")
	require.NoError(t, produce(n, blocked, "2"))
	require.EqualValues(t, 2, n.end(t, "t"))
}

// TestOneWayPartition lets requests through and no replies: the broker does the
// work, the client never learns.
func TestOneWayPartition(t *testing.T) {
	n := fake(t)
	c := n.client(t, "c")
	require.NoError(t, c.Ping(n.ctx))
	oneWay := n.proxy.Add(faultproxy.Rule{At: faultproxy.ReplyReceived, Client: "c", Verdict: faultproxy.Drop})
	ctx, cancel := context.WithTimeout(n.ctx, 300*time.Millisecond)
	defer cancel()
	require.Error(t, c.Ping(ctx))
	require.Positive(t, oneWay.Hits())
	oneWay.Remove()
	require.NoError(t, n.client(t, "c").Ping(n.ctx))
}
