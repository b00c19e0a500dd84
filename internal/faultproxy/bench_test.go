package faultproxy_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weirstream/weir/internal/faultproxy"
)

// BenchmarkRoundTrip compares a small request with and without the proxy.
func BenchmarkRoundTrip(b *testing.B) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	require.NoError(b, err)
	defer cluster.Close()
	proxy, err := faultproxy.New(b.Context(), cluster.ListenAddrs())
	require.NoError(b, err)
	defer proxy.Close()
	for name, opts := range map[string][]kgo.Opt{"direct": nil, "proxied": {kgo.Dialer(proxy.Dial)}} {
		b.Run(name, func(b *testing.B) {
			c, err := kgo.NewClient(append(opts, kgo.SeedBrokers(cluster.ListenAddrs()...))...)
			require.NoError(b, err)
			defer c.Close()
			for b.Loop() {
				_, err := kmsg.NewPtrApiVersionsRequest().RequestWith(b.Context(), c)
				require.NoError(b, err)
			}
		})
	}
}
