// Package committed reads topics as a read_committed consumer sees them, for the
// commands of weir: from the beginning to the end of the moment, or on and on.
// Its errors are one line for a person: what, where, what to do.
package committed

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"
)

// Cluster is a cluster to ask and read. Its methods may be called from any
// goroutine.
type Cluster struct {
	brokers []string
	timeout time.Duration
}

// New names a cluster by the first brokers to try. timeout bounds each question
// to it, and how long a broker that serves may keep a reader waiting.
func New(brokers []string, timeout time.Duration) *Cluster {
	return &Cluster{brokers: brokers, timeout: timeout}
}

// Client makes a client of the cluster, pinned to the protocol of Kafka 3.9. The
// caller closes it.
func (c *Cluster) Client(opts ...kgo.Opt) (*kgo.Client, error) {
	base := []kgo.Opt{kgo.SeedBrokers(c.brokers...), kgo.MaxVersions(kversion.V3_9_0())}
	return kgo.NewClient(append(base, opts...)...)
}

// Within bounds ctx by the cluster's timeout.
func (c *Cluster) Within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.timeout)
}

// Admin calls ask with an admin client, bounded by the timeout.
func (c *Cluster) Admin(ctx context.Context, ask func(context.Context, *kadm.Client) error) error {
	client, err := c.Client()
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := c.Within(ctx)
	defer cancel()
	return ask(ctx, kadm.NewClient(client))
}

// Topics describes the topics named, none of which may be missing.
func (c *Cluster) Topics(ctx context.Context, names ...string) (kadm.TopicDetails, error) {
	var found kadm.TopicDetails
	err := c.Admin(ctx, func(ctx context.Context, adm *kadm.Client) error {
		topics, err := adm.ListTopics(ctx, names...)
		if err != nil {
			return c.Explain("the topics cannot be listed", err)
		}
		for _, name := range names {
			if err := topics[name].Err; errors.Is(err, kerr.UnknownTopicOrPartition) {
				return fmt.Errorf("topic %s does not exist at %s; create it, or mend the name", name, c)
			} else if err != nil {
				return fmt.Errorf("topic %s cannot be used: %w", name, err)
			}
		}
		found = topics
		return nil
	})
	return found, err
}

// Explain makes one line of the failure of a request: no answer within the
// timeout, or what the cluster refused.
func (c *Cluster) Explain(what string, err error) error {
	if errors.As(err, new(*kerr.Error)) {
		return fmt.Errorf("%s: %w", what, err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s: no answer from %s within %v; check the address", what, c, c.timeout)
	}
	return fmt.Errorf("%s: no answer from %s: %w; check the address", what, c, err)
}

// String returns the addresses.
func (c *Cluster) String() string { return strings.Join(c.brokers, ",") }
