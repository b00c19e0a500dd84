package eos

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// topicState is what the cluster says about one topic.
type topicState struct {
	id         [16]byte
	partitions int
	err        error
}

// describeTopics asks the cluster itself: franz-go's own view of the metadata
// may be minutes old.
func describeTopics(ctx context.Context, client *kgo.Client, names []string) (map[string]topicState, error) {
	req := kmsg.NewPtrMetadataRequest()
	for _, name := range names {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = kmsg.StringPtr(name)
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return nil, err
	}
	out := map[string]topicState{}
	for _, t := range resp.Topics {
		if t.Topic != nil {
			out[*t.Topic] = topicState{id: t.TopicID, partitions: len(t.Partitions), err: kerr.ErrorForCode(t.ErrorCode)}
		}
	}
	return out, nil
}

// fault is what keeps the topic from being read, if anything does.
func (t topicState) fault(name string) error {
	switch {
	case t.err == nil && t.partitions > 0:
		return nil
	case errors.Is(t.err, kerr.TopicAuthorizationFailed):
		return newError(ErrUnauthorized, "the input topic cannot be described", "allow Read and Describe on it", t.err).at(name, -1, -1)
	default:
		return newError(ErrTopic, "the input topic does not exist", "create it, or mend the name", nil).at(name, -1, -1)
	}
}

// topicCheckInterval is how often the input topics are compared with those the
// member started on, and how long partitions that were added stay unread at
// most, plus a rebalance. The group's leader shares out what it knows; left
// alone franz-go, as the Java client, looks every 5 minutes.
const topicCheckInterval = 5 * time.Second

// watchTopics ends the engine when an input topic is deleted or made anew:
// offsets of the old topic mean nothing in the new one. It also sees to it that
// no partition is left without an owner.
func (m *member) watchTopics(ctx context.Context) {
	for pause(ctx, topicCheckInterval) {
		m.checkTopics(ctx)
		m.client.ForceMetadataRefresh()
		m.checkCoverage(ctx)
	}
}

// checkTopics takes a fault for true when it is still there a second later: a
// broker that has just started may not know every topic yet.
func (m *member) checkTopics(ctx context.Context) {
	if m.topicFault(ctx) == nil || !pause(ctx, time.Second) {
		return
	}
	if fault := m.topicFault(ctx); fault != nil {
		m.engine.fail(fault)
	}
}

func (m *member) topicFault(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, topicCheckInterval)
	defer cancel()
	topics, err := describeTopics(ctx, m.client, m.engine.cfg.Topics)
	if err != nil {
		return nil // no answer: nothing is known
	}
	for _, name := range m.engine.cfg.Topics {
		t := topics[name]
		switch err := t.fault(name); {
		case errors.Is(err, ErrUnauthorized):
			return err
		case err != nil:
			return newError(ErrTopic, "the input topic was deleted while the application ran",
				"its offsets are gone with it: make it again and start under a new application id", nil).at(name, -1, -1)
		case t.id != m.topicIDs[name]:
			return newError(ErrTopic,
				fmt.Sprintf("the input topic was deleted and made anew (topic id %s, was %s)", kadm.TopicID(t.id), kadm.TopicID(m.topicIDs[name])),
				"the committed offsets belong to the old topic: reset them with kafka-consumer-groups --reset-offsets, then start again", nil).at(name, -1, -1)
		}
	}
	return nil
}
