// Package devcluster runs an imitation of Kafka inside the process, for weir dev
// and weir demo: nothing but Go is needed.
//
// It is kfake, pinned to the protocol versions of Kafka 3.9. It is not proof of
// anything about exactly-once: its coordinators never load, move or fence, a
// transaction ends in one step (no CONCURRENT_TRANSACTIONS, no prepare states),
// a stale producer may re-initialise itself, pending offsets that finish out of
// order go back, and nothing is replicated. What must be proved is proved
// against real brokers; see package kafkatest.
package devcluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"
)

// Options shape a cluster. The zero value is a broker without topics on a free
// port that keeps its records in memory.
type Options struct {
	Port    int              // on 127.0.0.1; 0 takes a free one
	Topics  map[string]int32 // name -> partitions, at least 1; created at the start
	DataDir string           // where records are kept between runs; default: nowhere
}

// Cluster is a running imitation. Its methods may be called from any goroutine.
type Cluster struct {
	fake *kfake.Cluster
}

// Start runs a cluster of one broker with its topics in place. After nil the
// caller must call Close.
func Start(opts Options) (*Cluster, error) {
	for topic, partitions := range opts.Topics {
		if partitions < 1 {
			return nil, fmt.Errorf("devcluster: topic %s: %d partitions, at least 1 is needed", topic, partitions)
		}
	}
	config := []kfake.Opt{
		kfake.NumBrokers(1),
		kfake.Ports(opts.Port),
		kfake.MaxVersions(kversion.V3_9_0()),
		kfake.GroupMinSessionTimeout(time.Second),
	}
	if opts.DataDir != "" {
		config = append(config, kfake.DataDir(opts.DataDir))
	}
	fake, err := kfake.NewCluster(config...)
	if err != nil {
		return nil, fmt.Errorf("devcluster: listen on %s: %w", net.JoinHostPort("127.0.0.1", strconv.Itoa(opts.Port)), err)
	}
	c := &Cluster{fake: fake}
	for topic, partitions := range opts.Topics {
		if fake.TopicInfo(topic) != nil { // kept from an earlier run
			continue
		}
		if err := fake.CreateTopic(topic, partitions, nil); err != nil {
			c.Close()
			return nil, fmt.Errorf("devcluster: create topic %s: %w", topic, err)
		}
	}
	return c, nil
}

// Brokers returns the seed addresses, host:port.
func (c *Cluster) Brokers() []string { return c.fake.ListenAddrs() }

// Close stops the cluster; without DataDir its records are gone.
func (c *Cluster) Close() { c.fake.Close() }

// InitGroup commits the start of every partition of the topics that the group
// has no offset for. A group that is to commit through transactions needs it
// once before its first use here: kfake does not know a group whose offsets are
// all still pending and answers GROUP_ID_NOT_FOUND, where Kafka would say
// UNSTABLE_OFFSET_COMMIT. An offset that exists is not touched.
func (c *Cluster) InitGroup(ctx context.Context, group string, topics ...string) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(c.Brokers()...), kgo.MaxVersions(kversion.V3_9_0()))
	if err != nil {
		return fmt.Errorf("devcluster: group %s: %w", group, err)
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	starts, err := admin.ListStartOffsets(ctx, topics...)
	if err = errors.Join(err, starts.Error()); err != nil {
		return fmt.Errorf("devcluster: group %s: start of topics %v: %w", group, topics, err)
	}
	have, err := admin.FetchOffsets(ctx, group)
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		return fmt.Errorf("devcluster: group %s: committed offsets: %w", group, err)
	}
	missing := starts.Offsets()
	missing.KeepFunc(func(o kadm.Offset) bool {
		_, committed := have.Lookup(o.Topic, o.Partition)
		return !committed
	})
	if len(missing) == 0 {
		return nil
	}
	answer, err := admin.CommitOffsets(ctx, group, missing)
	if err = errors.Join(err, answer.Error()); err != nil {
		return fmt.Errorf("devcluster: group %s: commit the start of %v: %w", group, topics, err)
	}
	return nil
}
