package eos

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

// coverageDelay is how long a partition may belong to nobody in a stable group:
// between the two rounds of a cooperative rebalance it does.
const coverageDelay = 2 * time.Second

// checkCoverage asks for a rebalance when the group is stable and a partition
// belongs to nobody. That state lasts: a static member that was told to give a
// partition up, and dies before it has rejoined, gets the assignment of the
// first round back after its restart, and the second round never comes.
func (m *member) checkCoverage(ctx context.Context) {
	if m.covered(ctx) || !pause(ctx, coverageDelay) || m.covered(ctx) {
		return
	}
	m.log.Warn("a partition belongs to no member of the group: asking for a rebalance")
	m.client.ForceRebalance()
}

// covered is true when every input partition has an owner, when the group is
// between two states, and when there is no answer.
func (m *member) covered(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, topicCheckInterval)
	defer cancel()
	topics, err := describeTopics(ctx, m.client, m.engine.cfg.Topics)
	if err != nil {
		return true
	}
	groups, err := m.adm.DescribeGroups(ctx, m.engine.cfg.ApplicationID)
	g, ok := groups[m.engine.cfg.ApplicationID]
	if err != nil || !ok || g.Err != nil || g.State != "Stable" {
		return true
	}
	want := 0
	for _, t := range topics {
		want += t.partitions
	}
	return owned(&g, topics) >= want
}

// owned counts the input partitions that have an owner.
func owned(g *kadm.DescribedGroup, topics map[string]topicState) int {
	n := 0
	for topic, ids := range g.AssignedPartitions() {
		if _, ours := topics[topic]; ours {
			n += len(ids)
		}
	}
	return n
}
