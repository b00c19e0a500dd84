package faultproxy_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weirstream/weir/internal/faultproxy"
)

// TestForwardsInOrder pipelines many produce requests on one connection.
func TestForwardsInOrder(t *testing.T) {
	n := fake(t)
	c := n.client(t, "c", kgo.ProducerBatchMaxBytes(1024))
	seen := n.proxy.Add(faultproxy.Rule{At: faultproxy.ReplyReceived, Keys: []kmsg.Key{kmsg.Produce}})
	var want []string
	for i := range 200 {
		value := fmt.Sprintf("%03d-%0200d", i, i)
		want = append(want, value)
		c.Produce(n.ctx, &kgo.Record{Value: []byte(value)}, nil)
	}
	require.NoError(t, c.Flush(n.ctx))
	require.Equal(t, want, n.values(t, "t", len(want)))
	require.Greater(t, seen.Hits(), 10)
}

func TestProduceWithoutReply(t *testing.T) {
	n := fake(t)
	c := n.client(t, "c", kgo.RequiredAcks(kgo.NoAck()), kgo.DisableIdempotentWrite())
	require.NoError(t, produce(n, c, "a"))
	c.Close() // the proxy must not wait for an answer, nor lose the request
	require.Equal(t, []string{"a"}, n.values(t, "t", 1))
}

func TestEnvCarriesTheMap(t *testing.T) {
	want := map[string]string{"127.0.0.1:1": "127.0.0.1:2", "b:9092": "127.0.0.1:3"}
	got, err := faultproxy.ParseEnv(faultproxy.Env(want))
	require.NoError(t, err)
	require.Equal(t, want, got)
	got, err = faultproxy.ParseEnv("")
	require.NoError(t, err)
	require.Empty(t, got)
	_, err = faultproxy.ParseEnv("127.0.0.1:1")
	require.ErrorContains(t, err, "127.0.0.1:1")
}

// TestDecodesRequestAndReply matches on what is inside.
func TestDecodesRequestAndReply(t *testing.T) {
	n := fake(t)
	got := make(chan int16, 1)
	h := n.proxy.Add(faultproxy.Rule{
		At: faultproxy.ReplyReceived, Keys: []kmsg.Key{kmsg.EndTxn}, Client: "c", Broker: n.brokers[0],
		Match: func(e *faultproxy.Exchange) bool {
			req, err := e.Request()
			end, ok := req.(*kmsg.EndTxnRequest)
			return err == nil && ok && end.TransactionalID == "b" && end.Commit
		},
		Call: func(e *faultproxy.Exchange) {
			resp, err := e.Reply()
			if end, ok := resp.(*kmsg.EndTxnResponse); err == nil && ok {
				got <- end.ErrorCode
			}
		},
	})
	for _, id := range []string{"a", "b"} {
		for _, outcome := range []kgo.TransactionEndTry{kgo.TryAbort, kgo.TryCommit} {
			c := n.client(t, "c", kgo.TransactionalID(id))
			require.NoError(t, c.BeginTransaction())
			require.NoError(t, produce(n, c, id))
			require.NoError(t, c.EndTransaction(n.ctx, outcome))
		}
	}
	require.Equal(t, 1, h.Hits())
	require.EqualValues(t, 0, <-got)
}
