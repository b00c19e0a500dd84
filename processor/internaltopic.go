package processor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/topology"
)

// ensureInternal makes the repartition topics that are missing and checks the
// others. The number of partitions is frozen from then on: a key would otherwise
// change its partition while older records of it wait in another.
func (a *App) ensureInternal(ctx context.Context, adm *kadm.Client, topics kadm.TopicDetails) error {
	counts := map[string]int{}
	for name, topic := range topics {
		counts[name] = len(topic.Partitions)
	}
	for _, r := range a.plan.Repartitions() {
		topic := topics[r.Topic]
		switch {
		case errors.Is(topic.Err, kerr.UnknownTopicOrPartition):
			n := r.Partitions
			if n == 0 {
				n = a.largestSource(r.From, counts)
			}
			made, err := a.makeInternal(ctx, adm, r.Topic, n)
			if err != nil {
				return err
			}
			counts[r.Topic], a.ids[r.Topic] = len(made.Partitions), made.ID
			topic = made
		case topic.Err != nil:
			return a.topicFault(r.Topic, topic.Err)
		}
		if err := checkInternal(ctx, adm, r, len(topic.Partitions)); err != nil {
			return err
		}
	}
	return nil
}

func (a *App) largestSource(sub int, counts map[string]int) int {
	n := 1
	for _, source := range a.plan.Subtopologies()[sub].Sources {
		n = max(n, counts[source])
	}
	return n
}

// makeInternal creates the topic and waits until it is known. Another member may
// be faster: then its topic is taken.
func (a *App) makeInternal(ctx context.Context, adm *kadm.Client, name string, partitions int) (kadm.TopicDetail, error) {
	forever, policy := "-1", "delete"
	configs := map[string]*string{"retention.ms": &forever, "cleanup.policy": &policy}
	made, err := adm.CreateTopic(ctx, int32(partitions), -1, configs, name) //nolint:gosec // a partition count
	if err == nil {
		err = made.Err
	}
	switch {
	case errors.Is(err, kerr.TopicAlreadyExists):
	case errors.Is(err, kerr.TopicAuthorizationFailed), errors.Is(err, kerr.ClusterAuthorizationFailed):
		return kadm.TopicDetail{}, at(name, eos.ErrUnauthorized, "the repartition topic cannot be created",
			fmt.Sprintf("allow Create on it, or create it with %d partitions, retention.ms=-1 and cleanup.policy=delete", partitions), err)
	case err != nil:
		return kadm.TopicDetail{}, a.startError("the repartition topic "+name+" cannot be created", err)
	default:
		a.log.Info("repartition topic created", "topic", name, "partitions", partitions)
	}
	for {
		topics, err := adm.ListTopics(ctx, name)
		if err != nil {
			return kadm.TopicDetail{}, a.startError("the repartition topic "+name+" cannot be described", err)
		}
		if t := topics[name]; t.Err == nil && len(t.Partitions) > 0 {
			return t, nil
		}
		if !pause(ctx, 100*time.Millisecond) {
			return kadm.TopicDetail{}, at(name, eos.ErrTopic, "the repartition topic was created and is not known to the brokers", "start again", ctx.Err())
		}
	}
}

// checkInternal refuses a topic that would lose records or split keys.
func checkInternal(ctx context.Context, adm *kadm.Client, r topology.Repartition, partitions int) error {
	if r.Partitions != 0 && r.Partitions != partitions {
		return at(r.Topic, eos.ErrTopic,
			fmt.Sprintf("the repartition topic has %d partitions and the topology asks for %d; the number is frozen once it holds records", partitions, r.Partitions),
			fmt.Sprintf("set WithPartitions(%d), or give the operator a new name", partitions), nil)
	}
	configs, err := adm.DescribeTopicConfigs(ctx, r.Topic)
	if err != nil {
		return at(r.Topic, eos.ErrBroker, "the configuration of the repartition topic cannot be read", "see the error", err)
	}
	config, err := configs.On(r.Topic, nil)
	if err = errors.Join(err, config.Err); err != nil {
		return at(r.Topic, eos.ErrUnauthorized, "the configuration of the repartition topic cannot be read", "allow DescribeConfigs on it", err)
	}
	for key, want := range map[string]string{"retention.ms": "-1", "retention.bytes": "-1", "cleanup.policy": "delete"} {
		if got := valueOf(config, key); got != want {
			return at(r.Topic, eos.ErrTopic, fmt.Sprintf("the repartition topic has %s=%s, which can lose records before they are processed", key, got),
				fmt.Sprintf("set %s=%s on it", key, want), nil)
		}
	}
	return nil
}

// trim deletes, from time to time, what is behind the committed offsets of the
// repartition topics' partitions that this member owns. ctx ends it.
func (a *App) trim(ctx context.Context, adm *kadm.Client) {
	internal := a.internalTopics()
	if len(internal) == 0 {
		return
	}
	for pause(ctx, a.cfg.trimInterval) {
		if err := a.trimOnce(ctx, adm, internal); err != nil && ctx.Err() == nil {
			a.log.Warn("processed records of repartition topics not deleted, trying again later", "error", err)
		}
	}
}

// trimOnce asks for stable offsets: those of a transaction that is still ending
// are not there yet.
func (a *App) trimOnce(ctx context.Context, adm *kadm.Client, internal []string) error {
	owned := map[string]map[int32]bool{}
	for _, p := range a.engine.Status().Partitions {
		if owned[p.Topic] == nil {
			owned[p.Topic] = map[int32]bool{}
		}
		owned[p.Topic][p.Partition] = true
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	committed, err := adm.FetchOffsetsForTopics(kadm.RequireStable(ctx), a.cfg.engine.ApplicationID, internal...)
	if err = errors.Join(err, committed.Error()); err != nil {
		return fmt.Errorf("committed offsets: %w", err)
	}
	behind := make(kadm.Offsets)
	committed.Each(func(o kadm.OffsetResponse) {
		if o.At > 0 && owned[o.Topic][o.Partition] {
			behind.Add(o.Offset)
		}
	})
	if len(behind) == 0 {
		return nil
	}
	deleted, err := adm.DeleteRecords(ctx, behind)
	return errors.Join(err, deleted.Error())
}

// pause waits for d; false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
