package processor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/weirstream/weir/eos"
)

// internalTopic is one that the application makes for itself. The number of its
// partitions is frozen once it exists: a key would otherwise change its partition
// while older records of it wait in another.
type internalTopic struct {
	kind string
	name string
	// partitions is the number asked for; 0: as many as the largest topic that
	// the sub-topologies from read, of all if there are none.
	partitions int
	from       []int
}

// The kinds, as messages name them.
const (
	kindRepartition = "repartition"
	kindIntents     = "intents"
	kindOutcomes    = "outcomes"
)

// internalTopics are those of the repartitions and of the effects.
func (a *App) internalTopics() []internalTopic {
	var all []internalTopic
	for _, r := range a.plan.Repartitions() {
		all = append(all, internalTopic{kind: kindRepartition, name: r.Topic, partitions: r.Partitions, from: []int{r.From}})
	}
	for _, e := range a.plan.Effects() {
		all = append(all, internalTopic{kind: kindIntents, name: e.Intents, from: e.From})
		if e.Read {
			all = append(all, internalTopic{kind: kindOutcomes, name: e.Outcomes, from: e.From})
		}
	}
	return all
}

func namesOf(topics []internalTopic) []string {
	var names []string
	for _, t := range topics {
		names = append(names, t.name)
	}
	return names
}

// ensureInternal makes the internal topics that are missing and checks the
// others.
func (a *App) ensureInternal(ctx context.Context, adm *kadm.Client, internal []internalTopic, topics kadm.TopicDetails) error {
	counts := map[string]int{}
	for name, topic := range topics {
		counts[name] = len(topic.Partitions)
	}
	for _, t := range internal {
		topic := topics[t.name]
		switch {
		case errors.Is(topic.Err, kerr.UnknownTopicOrPartition):
			n := t.partitions
			if n == 0 {
				n = a.largestSource(t.from, counts)
			}
			made, err := a.makeInternal(ctx, adm, t, n)
			if err != nil {
				return err
			}
			counts[t.name], a.ids[t.name] = len(made.Partitions), made.ID
			topic = made
		case topic.Err != nil:
			return a.topicFault(t.name, topic.Err)
		}
		if err := checkInternal(ctx, adm, t, len(topic.Partitions)); err != nil {
			return err
		}
	}
	return nil
}

func (a *App) largestSource(subs []int, counts map[string]int) int {
	n := 1
	for _, sub := range a.plan.Subtopologies() {
		if len(subs) > 0 && !slices.Contains(subs, sub.ID) {
			continue
		}
		for _, source := range sub.Sources {
			n = max(n, counts[source])
		}
	}
	return n
}

// makeInternal creates the topic and waits until it is known. Another member may
// be faster: then its topic is taken.
func (a *App) makeInternal(ctx context.Context, adm *kadm.Client, t internalTopic, partitions int) (kadm.TopicDetail, error) {
	name, what := t.name, "the "+t.kind+" topic"
	forever, policy := "-1", "delete"
	configs := map[string]*string{"retention.ms": &forever, "cleanup.policy": &policy}
	made, err := adm.CreateTopic(ctx, int32(partitions), -1, configs, name) //nolint:gosec // a partition count
	if err == nil {
		err = made.Err
	}
	switch {
	case errors.Is(err, kerr.TopicAlreadyExists):
	case errors.Is(err, kerr.TopicAuthorizationFailed), errors.Is(err, kerr.ClusterAuthorizationFailed):
		return kadm.TopicDetail{}, at(name, eos.ErrUnauthorized, what+" cannot be created",
			fmt.Sprintf("allow Create on it, or create it with %d partitions, retention.ms=-1 and cleanup.policy=delete", partitions), err)
	case err != nil:
		return kadm.TopicDetail{}, a.startError(what+" "+name+" cannot be created", err)
	default:
		a.log.Info("internal topic created", "kind", t.kind, "topic", name, "partitions", partitions)
	}
	for {
		topics, err := adm.ListTopics(ctx, name)
		if err != nil {
			return kadm.TopicDetail{}, a.startError(what+" "+name+" cannot be described", err)
		}
		if t := topics[name]; t.Err == nil && len(t.Partitions) > 0 {
			return t, nil
		}
		if !pause(ctx, 100*time.Millisecond) {
			return kadm.TopicDetail{}, at(name, eos.ErrTopic, what+" was created and is not known to the brokers", "start again", ctx.Err())
		}
	}
}

// checkInternal refuses a topic that would lose records or split keys.
func checkInternal(ctx context.Context, adm *kadm.Client, t internalTopic, partitions int) error {
	what := "the " + t.kind + " topic"
	if t.partitions != 0 && t.partitions != partitions {
		return at(t.name, eos.ErrTopic,
			fmt.Sprintf("%s has %d partitions and the topology asks for %d; the number is frozen once it holds records", what, partitions, t.partitions),
			fmt.Sprintf("set WithPartitions(%d), or give the operator a new name", partitions), nil)
	}
	what = "the configuration of " + what
	configs, err := adm.DescribeTopicConfigs(ctx, t.name)
	if err != nil {
		return at(t.name, eos.ErrBroker, what+" cannot be read", "see the error", err)
	}
	config, err := configs.On(t.name, nil)
	if err = errors.Join(err, config.Err); err != nil {
		return at(t.name, eos.ErrUnauthorized, what+" cannot be read", "allow DescribeConfigs on it", err)
	}
	for key, want := range map[string]string{"retention.ms": "-1", "retention.bytes": "-1", "cleanup.policy": "delete"} {
		if got := valueOf(config, key); got != want {
			return at(t.name, eos.ErrTopic, fmt.Sprintf("the %s topic has %s=%s, which can lose records before they are processed", t.kind, key, got),
				fmt.Sprintf("set %s=%s on it", key, want), nil)
		}
	}
	return nil
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
