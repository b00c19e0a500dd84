package processor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/eos"
)

// prepare checks every topic and makes the internal ones. Nothing has joined the
// group yet.
func (a *App) prepare(ctx context.Context, client *kgo.Client, adm *kadm.Client) error {
	ctx, cancel := context.WithTimeout(ctx, a.cfg.engine.StartTimeout)
	defer cancel()
	internal := a.internalTopics()
	inside := namesOf(internal)
	outside := a.outsideTopics(inside)
	topics, err := reach(ctx, func() (kadm.TopicDetails, error) { return adm.ListTopics(ctx, slices.Concat(outside, inside)...) })
	if err != nil {
		return a.startError("the topics cannot be listed", err)
	}
	for _, name := range outside {
		if err := a.topicFault(name, topics[name].Err); err != nil {
			return err
		}
	}
	for name, topic := range topics {
		a.ids[name] = topic.ID
	}
	if err := a.ensureInternal(ctx, adm, internal, topics); err != nil {
		return err
	}
	return a.boundLetters(ctx, client, adm)
}

// reach asks until a broker answers, or ctx ends: then with the last error that
// says more than that.
func reach[T any](ctx context.Context, ask func() (T, error)) (T, error) {
	var last error
	for {
		got, err := ask()
		switch {
		case err == nil || errors.As(err, new(*kerr.Error)):
			return got, err
		case last == nil || ctx.Err() == nil:
			last = err
		}
		if !pause(ctx, 250*time.Millisecond) {
			return got, last
		}
	}
}

// outsideTopics are those that the user makes: sources, sinks, dead letters.
func (a *App) outsideTopics(internal []string) []string {
	names := slices.Concat(a.plan.Sources(), a.plan.Sinks())
	if a.cfg.policies.use(actionDeadLetter) {
		names = append(names, a.cfg.deadLetter)
	}
	names = slices.DeleteFunc(names, func(n string) bool { return slices.Contains(internal, n) })
	slices.Sort(names)
	return slices.Compact(names)
}

// topicFault is what keeps a topic from being used.
func (a *App) topicFault(name string, err error) error {
	use := "output"
	switch {
	case slices.Contains(a.plan.Sources(), name):
		use = "input"
	case name == a.cfg.deadLetter:
		use = "dead letter"
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, kerr.TopicAuthorizationFailed):
		right := "Write and Describe"
		if use == "input" {
			right = "Read and Describe"
		}
		return at(name, eos.ErrUnauthorized, "the "+use+" topic cannot be described", "allow "+right+" on it", err)
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return at(name, eos.ErrTopic, "the "+use+" topic does not exist",
			fmt.Sprintf("create it (kafka-topics.sh --bootstrap-server %s --create --topic %s --partitions N), or mend the name",
				strings.Join(a.cfg.engine.Brokers, ","), name), nil)
	}
	return at(name, eos.ErrTopic, "the "+use+" topic cannot be used", "see the error", err)
}

// startError says what an administrative request met.
func (a *App) startError(what string, err error) error {
	if errors.Is(err, kerr.ClusterAuthorizationFailed) || errors.Is(err, kerr.TopicAuthorizationFailed) {
		return at("", eos.ErrUnauthorized, what, "allow it, or make the topics by hand", err)
	}
	if errors.As(err, new(*kerr.Error)) {
		return at("", eos.ErrBroker, what, "see the error", err)
	}
	return at("", eos.ErrUnreachable,
		fmt.Sprintf("no answer from %s within %v", strings.Join(a.cfg.engine.Brokers, ","), a.cfg.engine.StartTimeout),
		"check the addresses, TLS and SASL", err)
}

func at(topic string, cause error, what, do string, err error) error {
	return &eos.Error{Cause: cause, Topic: topic, Partition: -1, Offset: -1, What: what, Do: do, Err: err}
}

// letterHeadroom is kept for key-less framing and the headers of a dead letter.
const letterHeadroom = 2048 + 4096

// boundLetters finds how large the value of a dead letter may be: what both the
// client and the topic take, less the headers.
func (a *App) boundLetters(ctx context.Context, client *kgo.Client, adm *kadm.Client) error {
	limit, ok := client.OptValue(kgo.ProducerBatchMaxBytes).(int32)
	if !ok {
		limit = 1 << 20
	}
	a.letters = max(0, int(limit)-letterHeadroom)
	if !a.cfg.policies.use(actionDeadLetter) {
		return nil
	}
	configs, err := adm.DescribeTopicConfigs(ctx, a.cfg.deadLetter)
	if err != nil {
		return a.startError("the configuration of "+a.cfg.deadLetter+" cannot be read", err)
	}
	config, err := configs.On(a.cfg.deadLetter, nil)
	if err != nil || config.Err != nil {
		return nil //nolint:nilerr // not allowed to know: the client's limit has to do
	}
	if n, err := strconv.Atoi(valueOf(config, "max.message.bytes")); err == nil {
		a.letters = min(a.letters, max(0, n-letterHeadroom))
	}
	return nil
}

func valueOf(config kadm.ResourceConfig, key string) string {
	for _, c := range config.Configs {
		if c.Key == key {
			return c.MaybeValue()
		}
	}
	return ""
}
