package eos

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// WithoutTransactions gives the same engine, with the same lanes, close rules
// and flushes, but plain offset commits: outputs are visible at once and a
// crash doubles them. It exists to measure what transactions cost, and for
// nothing else.
func WithoutTransactions(cfg Config) Config {
	cfg.plain = true
	return cfg
}

// commitPlain sends OffsetCommit by the group client in place of
// TxnOffsetCommit.
func (s *slot) commitPlain(ctx context.Context, g generation) error {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.MemberID, req.Generation, req.InstanceID = s.lane.cfg().ApplicationID, g.member, g.number, &s.lane.member.id.instance
	byTopic := map[string][]kmsg.OffsetCommitRequestTopicPartition{}
	for c, at := range s.txn.next {
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset, p.LeaderEpoch = c.id, at.next, at.leaderEpoch
		byTopic[c.topic] = append(byTopic[c.topic], p)
	}
	for topic, partitions := range byTopic {
		t := kmsg.NewOffsetCommitRequestTopic()
		t.Topic, t.Partitions = topic, partitions
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(ctx, s.lane.member.client)
	if err != nil {
		return err
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return err
			}
		}
	}
	return nil
}
