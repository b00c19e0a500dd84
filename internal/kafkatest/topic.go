package kafkatest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Name returns prefix with a random ending: a topic, group or transactional id
// that no other test uses.
func Name(prefix string) string {
	return prefix + "-" + strings.ToLower(rand.Text()[:10])
}

// Topic creates a topic with a unique name and returns the name; see
// CreateTopic.
func (c *Cluster) Topic(t testing.TB, prefix string, partitions int32) string {
	t.Helper()
	name := Name(prefix)
	c.CreateTopic(t, name, partitions, nil)
	return name
}

// CreateTopic creates a topic with the cluster's default replication factor and
// returns when every broker that runs names a leader for each partition. config may be
// nil.
func (c *Cluster) CreateTopic(t testing.TB, name string, partitions int32, config map[string]string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), opTimeout)
	defer cancel()
	admin := c.Admin(t)
	configs := make(map[string]*string, len(config))
	for k, v := range config {
		configs[k] = &v
	}
	if _, err := admin.CreateTopic(ctx, partitions, -1, configs, name); err != nil {
		t.Fatalf("kafkatest: create topic %s: %v", name, err)
	}
	meta, err := admin.BrokerMetadata(ctx)
	if err != nil {
		t.Fatalf("kafkatest: create topic %s: %v", name, err)
	}
	for _, b := range meta.Brokers {
		seed := c.Client(t, kgo.SeedBrokers(addr(b))).SeedBrokers()[0]
		until(ctx, t, "topic "+name+" has no leaders yet at "+addr(b), func() error {
			return led(ctx, seed, name, partitions)
		})
	}
}

// until calls try every 50 ms until it returns nil, and fails the test with its
// last error when ctx ends first.
func until(ctx context.Context, t testing.TB, what string, try func() error) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("kafkatest: %s: %v", what, err)
		case <-tick.C:
		}
	}
}

func addr(b kadm.BrokerDetail) string {
	return net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))
}

// led asks one broker, past any cache, and says why the topic cannot be used
// yet.
func led(ctx context.Context, broker *kgo.Broker, name string, partitions int32) error {
	req := kmsg.NewPtrMetadataRequest()
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = &name
	req.Topics = append(req.Topics, topic)
	answer, err := broker.Request(ctx, req)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil // killed by the test and not yet missed by the controller
	}
	if err != nil {
		return err
	}
	meta, ok := answer.(*kmsg.MetadataResponse)
	if !ok || len(meta.Topics) != 1 {
		return fmt.Errorf("metadata for one topic expected, have %T", answer)
	}
	if err := kerr.ErrorForCode(meta.Topics[0].ErrorCode); err != nil {
		return err
	}
	if n := len(meta.Topics[0].Partitions); n != int(partitions) {
		return fmt.Errorf("%d of %d partitions are known", n, partitions)
	}
	for _, p := range meta.Topics[0].Partitions {
		if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
			return fmt.Errorf("partition %d: %w", p.Partition, err)
		}
		if p.Leader < 0 {
			return fmt.Errorf("partition %d has no leader", p.Partition)
		}
	}
	return nil
}
