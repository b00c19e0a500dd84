package faultproxy_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/weirstream/weir/internal/faultproxy"
)

// net is a broker behind a proxy.
type net struct {
	proxy   *faultproxy.Proxy
	brokers []string
	ctx     context.Context //nolint:containedctx // the test's deadline
}

// fake runs kfake behind a proxy, with the topic "t" of one partition.
func fake(t *testing.T) *net {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.MaxVersions(kversion.V3_9_0()), kfake.SeedTopics(1, "t"))
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	return behind(t, cluster.ListenAddrs())
}

func behind(t *testing.T, brokers []string) *net {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	proxy, err := faultproxy.New(ctx, brokers)
	require.NoError(t, err)
	t.Cleanup(proxy.Close)
	return &net{proxy: proxy, brokers: brokers, ctx: ctx}
}

// client goes through the proxy under a client.id.
func (n *net) client(t *testing.T, id string, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	return n.direct(t, append([]kgo.Opt{kgo.ClientID(id), kgo.Dialer(n.proxy.Dial)}, opts...)...)
}

// direct does not go through the proxy.
func (n *net) direct(t *testing.T, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	c, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(n.brokers...), kgo.DefaultProduceTopic("t")}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// values reads the first n values of the topic, past the proxy.
func (n *net) values(t *testing.T, topic string, count int) []string {
	t.Helper()
	c := n.direct(t, kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	var values []string
	for len(values) < count {
		fetches := c.PollFetches(n.ctx)
		require.NoError(t, fetches.Err())
		fetches.EachRecord(func(r *kgo.Record) { values = append(values, string(r.Value)) })
	}
	return values
}

// end is the high watermark of partition 0, past the proxy.
func (n *net) end(t *testing.T, topic string) int64 {
	t.Helper()
	req := kmsg.NewPtrListOffsetsRequest()
	part := kmsg.NewListOffsetsRequestTopicPartition()
	part.Timestamp = -1
	req.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: topic, Partitions: []kmsg.ListOffsetsRequestTopicPartition{part}}}
	resp, err := req.RequestWith(n.ctx, n.direct(t))
	require.NoError(t, err)
	return resp.Topics[0].Partitions[0].Offset
}

func produce(n *net, c *kgo.Client, value string) error {
	return c.ProduceSync(n.ctx, &kgo.Record{Topic: "t", Value: []byte(value)}).FirstErr()
}
