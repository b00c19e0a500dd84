package faultproxy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/internal/faultproxy"
)

// TestForwardedRulesBeatTheReply has the broker finish before the rule has
// decided: the reply must wait for the verdict, which loses it, so the client
// sends again.
func TestForwardedRulesBeatTheReply(t *testing.T) {
	n := fake(t)
	received := n.proxy.Add(faultproxy.Rule{At: faultproxy.RequestReceived, Keys: produceOnly})
	n.proxy.Add(faultproxy.Rule{
		At: faultproxy.RequestForwarded, Keys: produceOnly, Nth: 1, Verdict: faultproxy.Cut,
		Call: func(*faultproxy.Exchange) {
			for n.ctx.Err() == nil && n.end(t, "t") == 0 { // each look is a round trip
			}
		},
	})
	require.NoError(t, produce(n, n.client(t, "c", kgo.MetadataMinAge(10*time.Millisecond)), "a"))
	require.Equal(t, 2, received.Hits())
	require.EqualValues(t, 1, n.end(t, "t"))
}
