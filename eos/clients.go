package eos

import (
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// protocol pins every client to what a 3.9 broker speaks. On 4.x brokers too:
// their transaction protocol moves the epoch with each transaction, behind the
// back of the requests that slot.go sends itself. AddPartitionsToTxn stays at
// the client form, version 3; from 4 on it is meant for brokers.
func protocol() *kversion.Versions {
	v := kversion.V3_9_0()
	v.SetMaxKeyVersion(int16(kmsg.AddPartitionsToTxn), 3)
	return v
}

// plainOptions are common to every client.
func (c Config) plainOptions() []kgo.Opt {
	return append(c.Client[:len(c.Client):len(c.Client)],
		kgo.SeedBrokers(c.Brokers...),
		kgo.MaxVersions(protocol()),
		kgo.DisableClientMetrics(),
	)
}

// producerOptions make the client of one slot. Unless the user says otherwise,
// outputs linger for a small share of the commit interval: long enough to share
// a request, short enough to be on their way when the transaction closes.
func (e *Engine) producerOptions(id string, copies *copies) []kgo.Opt {
	c := e.cfg
	opts := append([]kgo.Opt{
		kgo.ProducerLinger(min(c.CommitInterval/20, 5*time.Millisecond)),
		kgo.ProducerBatchMaxBytesFn(e.batches.of),
	}, c.plainOptions()...)
	if c.plain {
		return append(opts, kgo.WithHooks(copies))
	}
	return append(opts,
		kgo.TransactionalID(id),
		kgo.TransactionTimeout(c.TransactionTimeout),
		kgo.WithHooks(copies),
	)
}

// memberOptions make the group client: it polls, and never produces.
func (c Config) memberOptions(instance string, m *member) []kgo.Opt {
	return append(c.plainOptions(),
		kgo.ConsumerGroup(c.ApplicationID),
		kgo.InstanceID(instance),
		kgo.ConsumeTopics(c.Topics...),
		kgo.Balancers(kgo.CooperativeStickyBalancer()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.KeepControlRecords(),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.DisableAutoCommit(),
		kgo.BlockRebalanceOnPoll(),
		kgo.SessionTimeout(c.SessionTimeout),
		kgo.HeartbeatInterval(c.HeartbeatInterval),
		kgo.RebalanceTimeout(max(c.RevokeTimeout*2, 10*time.Second)),
		kgo.AdjustFetchOffsetsFn(m.startOffsets),
		kgo.OnPartitionsAssigned(m.onAssigned),
		kgo.OnPartitionsRevoked(m.onRevoked),
		kgo.OnPartitionsLost(m.onLost),
	)
}

// newClient makes a client; one at a time.
func (e *Engine) newClient(opts []kgo.Opt) (*kgo.Client, error) {
	e.making.Lock()
	defer e.making.Unlock()
	return kgo.NewClient(opts...)
}
