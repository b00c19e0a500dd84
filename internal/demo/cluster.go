package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/weirstream/weir/internal/devcluster"
)

const (
	inputPartitions  = 6
	outputPartitions = 3

	askTimeout    = 10 * time.Second // one question to the cluster
	readTimeout   = 30 * time.Second // one output topic
	settleTimeout = 10 * time.Second // open transactions after the workers ended
)

// cluster is the Kafka of a run: the user's, or an embedded one.
type cluster struct {
	brokers []string
	fake    *devcluster.Cluster // nil: the user's
	kgo     *kgo.Client
	adm     *kadm.Client
}

// openCluster connects to the brokers, or starts an embedded cluster if there
// are none.
func openCluster(ctx context.Context, brokers []string) (*cluster, error) {
	c := &cluster{brokers: brokers}
	if len(brokers) == 0 {
		fake, err := devcluster.Start(devcluster.Options{})
		if err != nil {
			return nil, err
		}
		c.fake, c.brokers = fake, fake.Brokers()
	}
	client, err := c.client(kgo.ProducerLinger(5 * time.Millisecond))
	if err != nil {
		c.close()
		return nil, err
	}
	c.kgo, c.adm = client, kadm.NewClient(client)
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	if err := client.Ping(ctx); err != nil {
		c.close()
		return nil, fmt.Errorf("no answer from %s: %w; check the address", strings.Join(c.brokers, ","), err)
	}
	return c, nil
}

func (c *cluster) client(opts ...kgo.Opt) (*kgo.Client, error) {
	return kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(c.brokers...), kgo.MaxVersions(kversion.V3_9_0())}, opts...)...)
}

func (c *cluster) close() {
	if c.kgo != nil {
		c.kgo.Close()
	}
	if c.fake != nil {
		c.fake.Close()
	}
}

// names are what a run makes in the cluster.
type names struct {
	in                    string
	weirOut, plainOut     string
	weirGroup, plainGroup string
}

// newNames returns names that no other run has.
func newNames() names {
	app := "weir-demo-" + strings.ToLower(rand.Text()[:8])
	return names{
		in: app + "-orders", weirOut: app + "-bills", plainOut: app + "-bills-plain",
		weirGroup: app, plainGroup: app + "-plain",
	}
}

func (n names) topics() []string { return []string{n.in, n.weirOut, n.plainOut} }

// create makes the topics and, where the embedded cluster needs it, the group.
func (c *cluster) create(ctx context.Context, n names) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	in, err := c.adm.CreateTopics(ctx, inputPartitions, -1, nil, n.in)
	if err = errors.Join(err, in.Error()); err != nil {
		return fmt.Errorf("create topic %s: %w", n.in, err)
	}
	out, err := c.adm.CreateTopics(ctx, outputPartitions, -1, nil, n.weirOut, n.plainOut)
	if err = errors.Join(err, out.Error()); err != nil {
		return fmt.Errorf("create topics %s, %s: %w", n.weirOut, n.plainOut, err)
	}
	if c.fake == nil {
		return c.led(ctx, n.topics())
	}
	return c.fake.InitGroup(ctx, n.weirGroup, n.in)
}

// led waits until the brokers know the new topics with a leader for each
// partition.
func (c *cluster) led(ctx context.Context, topics []string) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		// The end offsets come from the leaders themselves.
		ends, err := c.adm.ListEndOffsets(ctx, topics...)
		if err = errors.Join(err, ends.Error()); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the new topics %v have no leaders yet: %w", topics, err)
		case <-tick.C:
		}
	}
}

// remove deletes what create and the workers made. Static members stay in a
// group until their session ends, so they are taken out first.
func (c *cluster) remove(ctx context.Context, n names, instances []string) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	gone, err := c.adm.DeleteTopics(ctx, n.topics()...)
	faults := []error{err, gone.Error()}
	for _, group := range []string{n.weirGroup, n.plainGroup} {
		_, err := c.adm.LeaveGroup(ctx, kadm.LeaveGroup(group).InstanceIDs(instances...).Reason("the demo is over"))
		faults = append(faults, err)
	}
	groups, err := c.adm.DeleteGroups(ctx, n.weirGroup, n.plainGroup)
	faults = append(faults, err)
	for _, g := range groups {
		if !errors.Is(g.Err, kerr.GroupIDNotFound) { // a demo that ended early
			faults = append(faults, g.Err)
		}
	}
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("remove the topics and groups %s*: %w", n.weirGroup, err)
	}
	return nil
}

// session is the shortest session time-out that suits the demo: 3 s, or the
// least that the broker allows (Kafka: 6 s unless configured otherwise).
func (c *cluster) session(ctx context.Context) time.Duration {
	const wanted, usual = 3 * time.Second, 6 * time.Second
	if c.fake != nil {
		return wanted
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	meta, err := c.adm.BrokerMetadata(ctx)
	if err != nil || len(meta.Brokers) == 0 {
		return usual
	}
	configs, err := c.adm.DescribeBrokerConfigs(ctx, meta.Brokers[0].NodeID)
	if err != nil {
		return usual // not allowed to ask
	}
	for _, r := range configs {
		for _, entry := range r.Configs {
			if ms, err := strconv.Atoi(entry.MaybeValue()); err == nil && entry.Key == "group.min.session.timeout.ms" {
				return max(wanted, time.Duration(ms)*time.Millisecond)
			}
		}
	}
	return usual
}

// done is how many input records a group has committed. It does not ask for
// stable offsets: those of open transactions are not in the answer anyway.
func (c *cluster) done(ctx context.Context, group string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	offsets, err := c.adm.FetchOffsets(ctx, group)
	if err = errors.Join(err, offsets.Error()); err != nil {
		return 0, fmt.Errorf("committed offsets of group %s: %w", group, err)
	}
	sum := 0
	offsets.Each(func(o kadm.OffsetResponse) { sum += int(max(0, o.At)) })
	return sum, nil
}
