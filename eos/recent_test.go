package eos

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRecentPartitionsAreForgotten(t *testing.T) {
	t.Parallel()
	var r recent
	require.Empty(t, r.topics())
	r.add(map[partition]struct{}{{"a", 0}: {}, {"a", 1}: {}, {"b", 0}: {}})
	for range recentTransactions {
		r.add(map[partition]struct{}{{"a", 0}: {}})
	}
	topics := r.topics()
	require.Len(t, topics, 2)
	for _, topic := range topics {
		want := map[string][]int32{"a": {0, 1}, "b": {0}}[topic.Topic]
		require.ElementsMatch(t, want, topic.Partitions)
	}
	r.add(map[partition]struct{}{{"a", 0}: {}})
	topics = r.topics()
	require.Len(t, topics, 1)
	require.Equal(t, "a", topics[0].Topic)
	require.True(t, slices.Equal([]int32{0}, topics[0].Partitions))
}
