package faultproxy_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weirstream/weir/internal/faultproxy"
	"github.com/weirstream/weir/internal/kafkatest"
)

// TestLateWriteOfAZombieOnKafka holds a transactional produce while a second
// producer takes the identity over, and delivers it afterwards, when the zombie
// has left. A real broker refuses it: its epoch is old.
func TestLateWriteOfAZombieOnKafka(t *testing.T) {
	cluster := kafkatest.Start(t)
	n := behind(t, cluster.Brokers())
	topic := cluster.Topic(t, "zombie", 1)
	id := kafkatest.Name("zombie")

	write := func(c *kgo.Client, ctx context.Context, value string) error {
		return c.ProduceSync(ctx, &kgo.Record{Topic: topic, Value: []byte(value)}).FirstErr()
	}
	zombie := n.client(t, "zombie", kgo.TransactionalID(id))
	require.NoError(t, zombie.BeginTransaction())
	hold := n.proxy.Add(faultproxy.Rule{
		At: faultproxy.RequestReceived, Client: "zombie", Verdict: faultproxy.Hold,
		Match: func(e *faultproxy.Exchange) bool {
			req, err := e.Request()
			produce, ok := req.(*kmsg.ProduceRequest)
			return err == nil && ok && produce.TransactionID != nil && *produce.TransactionID == id
		},
	})
	answered := make(chan int16, 1)
	n.proxy.Add(faultproxy.Rule{
		At: faultproxy.ReplyReceived, Client: "zombie", Keys: produceOnly,
		Call: func(e *faultproxy.Exchange) {
			resp, err := e.Reply()
			if produce, ok := resp.(*kmsg.ProduceResponse); err == nil && ok {
				answered <- produce.Topics[0].Partitions[0].ErrorCode
			}
		},
	})
	ctx, cancel := context.WithCancel(n.ctx)
	zombie.Produce(ctx, &kgo.Record{Topic: topic, Value: []byte("late")}, nil)
	require.NoError(t, hold.Wait(n.ctx, 1))
	n.proxy.Block("zombie")
	cancel()
	zombie.Close()

	heir := n.client(t, "heir", kgo.TransactionalID(id))
	require.NoError(t, heir.BeginTransaction())
	require.NoError(t, write(heir, n.ctx, "heir"))
	require.NoError(t, heir.EndTransaction(n.ctx, kgo.TryCommit))
	hold.Release()

	select {
	case code := <-answered:
		require.Equal(t, kerr.InvalidProducerEpoch.Code, code)
	case <-time.After(20 * time.Second):
		require.Fail(t, "the held request was not answered")
	}
	records := cluster.ReadCommitted(t, topic)
	require.Len(t, records, 1)
	require.Equal(t, "heir", string(records[0].Value))
	require.Equal(t, records, cluster.ReadCommittedJava(t, topic))
}
