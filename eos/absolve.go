package eos

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	// absolveTimeout bounds the question whether a topic is there.
	absolveTimeout = 5 * time.Second
	// maxAbsolved times in a row that a topic is refused as unknown though the
	// cluster lists it, the refusal stands.
	maxAbsolved = 8
)

// absolve takes back the blame of outputs that a broker refused as unknown
// topic although the cluster lists it: the broker had just started, or the
// client's metadata was old. Their inputs come again, instead of being replaced
// for good.
func (l *lane) absolve(ctx context.Context) {
	l.mu.Lock()
	unknown, setbacks := unknownTopics(l.failedLocked()), l.setbacks
	l.mu.Unlock()
	if len(unknown) == 0 || setbacks >= maxAbsolved {
		return
	}
	there := existing(ctx, l.member.client, unknown)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.failedLocked() {
		t.absolve(func(topic string) bool { return slices.Contains(there, topic) })
	}
}

// existing are those of the topics that are there, or about which there is no
// answer.
func existing(ctx context.Context, client *kgo.Client, topics []string) []string {
	ctx, cancel := context.WithTimeout(ctx, absolveTimeout)
	defer cancel()
	states, err := describeTopics(ctx, client, topics)
	if err != nil {
		return topics
	}
	return slices.DeleteFunc(topics, func(name string) bool { return states[name].err != nil })
}

// unknownTopics are the topics that were refused as unknown.
func unknownTopics(failed []*txn) []string {
	var topics []string
	for _, t := range failed {
		t.fail.Lock()
		for _, b := range t.fail.blamed {
			if errors.Is(b.err, kerr.UnknownTopicOrPartition) {
				topics = append(topics, b.output.Topic)
			}
		}
		t.fail.Unlock()
	}
	slices.Sort(topics)
	return slices.Compact(topics)
}

// absolve forgets outputs refused as unknown to a topic that is there.
func (t *txn) absolve(there func(topic string) bool) {
	t.fail.Lock()
	defer t.fail.Unlock()
	t.fail.blamed = slices.DeleteFunc(t.fail.blamed, func(b blame) bool {
		return errors.Is(b.err, kerr.UnknownTopicOrPartition) && there(b.output.Topic)
	})
}
