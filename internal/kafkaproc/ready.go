package kafkaproc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// errPortTaken says that another process took a port between our look and the
// node's bind; Start tries again with others.
var errPortTaken = errors.New("a port was taken while a node started")

// waitReady returns when n answers metadata that names itself and at least
// brokers registered brokers, or with the end of its log when it died or was too
// late.
func (c *Cluster) waitReady(ctx context.Context, n *node, brokers int) error {
	ctx, cancel := context.WithTimeout(ctx, c.opts.ReadyTimeout)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(n.addr()), kgo.WithLogger(nil))
	if err != nil {
		return fmt.Errorf("kafkaproc: node %d: %w", n.id, err)
	}
	defer client.Close()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		if serves(ctx, client.SeedBrokers()[0], n, brokers) {
			return nil
		}
		select {
		case <-n.dead():
			return n.died()
		case <-ctx.Done():
			return fmt.Errorf("kafkaproc: node %d does not serve at %s: %w; its log ends with\n%s",
				n.id, n.addr(), ctx.Err(), n.logTail())
		case <-tick.C:
		}
	}
}

// serves asks n, and only n, once. The request is sent as it is: the client's
// own cached metadata would keep the brokers of its first answer.
func serves(ctx context.Context, seed *kgo.Broker, n *node, brokers int) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{}
	answer, err := seed.Request(ctx, req)
	if err != nil {
		return false
	}
	meta, ok := answer.(*kmsg.MetadataResponse)
	return ok && len(meta.Brokers) >= brokers &&
		slices.ContainsFunc(meta.Brokers, func(b kmsg.MetadataResponseBroker) bool { return int(b.NodeID) == n.id })
}

// died describes the end of a node that should be running.
func (n *node) died() error {
	tail := n.logTail()
	if strings.Contains(tail, "Address already in use") || strings.Contains(tail, "failed to bind") {
		return fmt.Errorf("kafkaproc: node %d: %w; its log ends with\n%s", n.id, errPortTaken, tail)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	var status error
	if n.proc != nil {
		status = n.proc.Err()
	}
	return fmt.Errorf("kafkaproc: node %d ended by itself (%w); its log ends with\n%s",
		n.id, errors.Join(os.ErrProcessDone, status), tail)
}
