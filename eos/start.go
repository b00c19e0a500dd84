package eos

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// prepare reaches the brokers, checks the input topics, and sees to it that the
// group has start offsets. It joins nothing.
func (m *member) prepare(ctx context.Context, client *kgo.Client) error {
	cfg, adm := m.engine.cfg, kadm.NewClient(client)
	topics, err := reach(ctx, client, cfg.Topics)
	if errors.Is(err, kerr.SaslAuthenticationFailed) {
		return newError(ErrUnauthorized, "the brokers refuse this client", "check the SASL credentials", err)
	}
	if err != nil {
		return newError(ErrUnreachable, fmt.Sprintf("no answer from %s within %v", strings.Join(cfg.Brokers, ","), cfg.StartTimeout),
			"check the addresses, TLS and SASL", err)
	}
	for _, name := range cfg.Topics {
		if err := topics[name].fault(name); err != nil {
			return err
		}
		m.topicIDs[name] = topics[name].id
	}
	committed, err := committedOffsets(ctx, adm, cfg.ApplicationID)
	if err != nil {
		return m.startError("the committed offsets cannot be read", err)
	}
	if !anyOffset(committed) {
		return m.firstStart(ctx, adm)
	}
	return nil
}

// reachPause is the wait between two tries to reach a broker.
const reachPause = 250 * time.Millisecond

// reach asks until a broker answers: an application may be started before its
// brokers. What the last try met is more telling than the deadline.
func reach(ctx context.Context, client *kgo.Client, names []string) (map[string]topicState, error) {
	var last error
	for {
		topics, err := describeTopics(ctx, client, names)
		if err == nil || errors.Is(err, kerr.SaslAuthenticationFailed) {
			return topics, err
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		if !pause(ctx, reachPause) {
			return nil, last
		}
	}
}

func (m *member) startError(what string, err error) error {
	switch {
	case errors.Is(err, kerr.GroupAuthorizationFailed):
		return newError(ErrUnauthorized, "group "+m.engine.cfg.ApplicationID, "allow Read on the Group", err)
	case errors.Is(err, kerr.ClusterAuthorizationFailed), errors.Is(err, kerr.TransactionalIDAuthorizationFailed):
		return newError(ErrUnauthorized, what, "allow Write and Describe on TransactionalId with prefix "+m.engine.cfg.ApplicationID+idSeparator, err)
	case errors.Is(err, context.DeadlineExceeded):
		return newError(ErrUnreachable, what, "check the brokers", err)
	}
	return newError(ErrBroker, what, "see the error", err)
}

func anyOffset(committed kadm.OffsetResponses) bool {
	found := false
	committed.Each(func(o kadm.OffsetResponse) { found = found || o.At >= 0 })
	return found
}

// firstStart commits where the group begins, before anything is processed and
// before any transactional id exists: ids without offsets then mean that
// offsets were lost.
func (m *member) firstStart(ctx context.Context, adm *kadm.Client) error {
	cfg := m.engine.cfg
	listed, err := listTransactions(ctx, adm)
	if err != nil {
		return m.startError("the transactional ids cannot be listed", err)
	}
	for id := range listed {
		if t, ok := parseTransactionalID(id); ok && t.application == cfg.ApplicationID {
			return newError(ErrOffsetsLost,
				fmt.Sprintf("group %q has no committed offset, though %q shows that it has run before", cfg.ApplicationID, id),
				"the offsets expired or the group was deleted: set them with kafka-consumer-groups --reset-offsets, then start again", nil)
		}
	}
	list := adm.ListStartOffsets
	if cfg.Start == Latest {
		list = adm.ListEndOffsets
	}
	at, err := list(ctx, cfg.Topics...)
	if err == nil {
		err = at.Error()
	}
	if err != nil {
		return m.startError("the start offsets cannot be read", err)
	}
	_, err = ask(ctx, func() (kadm.OffsetResponses, error) {
		responses, err := adm.CommitOffsets(ctx, cfg.ApplicationID, at.Offsets())
		return responses, errors.Join(err, responses.Error())
	})
	if errors.Is(err, kerr.UnknownMemberID) || errors.Is(err, kerr.IllegalGeneration) {
		return nil // another member has joined meanwhile, and had them committed before
	}
	if err != nil {
		return m.startError("the start offsets cannot be committed", err)
	}
	return nil
}

// startOffsets completes what the group has committed for gained partitions:
// one without an offset among others that have one is a new partition and
// starts at 0; an offset below the log start is decided by OnLostOffsets.
func (m *member) startOffsets(ctx context.Context, offsets map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	<-m.begun
	topics := make([]string, 0, len(offsets))
	for topic := range offsets {
		topics = append(topics, topic)
	}
	sort.Strings(topics)
	if len(topics) == 0 {
		return offsets, nil
	}
	starts, err := m.adm.ListStartOffsets(ctx, topics...)
	if err != nil {
		return nil, fmt.Errorf("log start offsets: %w", err)
	}
	for topic, partitions := range offsets {
		for id, o := range partitions {
			start, ok := starts.Lookup(topic, id)
			if !ok || start.Err != nil {
				return nil, fmt.Errorf("log start offset of %s[%d]: %w", topic, id, errors.Join(start.Err, kerr.UnknownTopicOrPartition))
			}
			from, err := m.startOffset(topic, id, o, start.Offset)
			if err != nil {
				m.engine.fail(err)
				return nil, err
			}
			partitions[id] = from
			m.startsAt(partition{topic, id}, o.EpochOffset().Offset, from.EpochOffset().Offset)
		}
	}
	return offsets, nil
}

// startsAt tells the claim what the group has committed, and where it begins.
func (m *member) startsAt(p partition, committed, from int64) {
	m.mu.Lock()
	c := m.claims[p]
	m.mu.Unlock()
	if c == nil {
		return
	}
	c.lane.mu.Lock()
	defer c.lane.mu.Unlock()
	c.next, c.polled = max(c.next, committed), max(c.polled, from)
}

func (m *member) startOffset(topic string, id int32, o kgo.Offset, logStart int64) (kgo.Offset, error) {
	at := o.EpochOffset().Offset
	switch {
	case at >= logStart:
		return o, nil
	case at < 0 && logStart == 0:
		return kgo.NewOffset().At(0), nil
	case at < 0:
		return o, newError(ErrOffsetsLost,
			fmt.Sprintf("no committed offset, and the oldest record is at %d: the offset expired, or the partition is new and already trimmed", logStart),
			"set it with kafka-consumer-groups --reset-offsets, then start again", nil).at(topic, id, -1)
	default:
		return m.skipTo(topic, id, at, logStart)
	}
}

// skipTo decides about records that were deleted before they were processed.
func (m *member) skipTo(topic string, id int32, at, logStart int64) (kgo.Offset, error) {
	gone := int(logStart - at)
	to := kgo.NewOffset().At(logStart)
	if m.engine.cfg.OnLostOffsets == Stop {
		return to, newError(ErrOffsetsLost,
			fmt.Sprintf("%d records up to %d were deleted before they were processed", gone, logStart-1),
			"raise the topic's retention; to go on without them set OnLostOffsets to SkipToEarliest", nil).at(topic, id, at)
	}
	m.log.Error("records were deleted before they were processed; going on behind them",
		"topic", topic, "partition", id, "from", at, "to", logStart, "records", gone)
	m.engine.observe(Event{Kind: OffsetsSkipped, Records: gone, Partitions: map[string][]int32{topic: {id}}})
	return to, nil
}

// offsetOutOfRange is retention overtaking a running member.
func (m *member) offsetOutOfRange(topic string, id int32) {
	ctx, cancel := context.WithTimeout(m.engine.runCtx, m.engine.cfg.SessionTimeout)
	defer cancel()
	starts, err := m.adm.ListStartOffsets(ctx, topic)
	start, ok := starts.Lookup(topic, id)
	at := m.polledTo(partition{topic, id})
	if err != nil || !ok || start.Err != nil || at < 0 || at >= start.Offset {
		m.engine.fail(newError(ErrOffsetsLost, "the offset to read is outside the log",
			"compare the group's offset with the log, then set it with kafka-consumer-groups --reset-offsets", errors.Join(err, start.Err)).at(topic, id, at))
		return
	}
	to, err := m.skipTo(topic, id, at, start.Offset)
	if err != nil {
		m.engine.fail(err)
		return
	}
	m.startsAt(partition{topic, id}, -1, start.Offset)
	m.client.SetOffsets(map[string]map[int32]kgo.EpochOffset{topic: {id: {Epoch: -1, Offset: to.EpochOffset().Offset}}})
}
