package plainloop

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// pollRecords bounds a batch, so that a backlog is worked off in many.
const pollRecords = 500

// pausedEvery is the number of records after which Config.Pause is made.
const pausedEvery = 5

// Config is a loop that copies one topic to another.
type Config struct {
	Brokers []string
	Group   string
	// Instance is the group.instance.id, so that a killed worker has its
	// partitions back at once, and the transactional.id of Transactional.
	Instance string
	Input    string
	Output   string
	// Pause is the work of the transform, waited for every 5 records.
	Pause time.Duration
}

// options are what the loops have in common.
func (c Config) options() []kgo.Opt {
	return []kgo.Opt{
		kgo.SeedBrokers(c.Brokers...),
		kgo.ConsumerGroup(c.Group),
		kgo.InstanceID(c.Instance),
		kgo.ConsumeTopics(c.Input),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.FetchMaxWait(100 * time.Millisecond),
		kgo.SessionTimeout(6 * time.Second),
		kgo.HeartbeatInterval(500 * time.Millisecond),
		kgo.ProducerLinger(0),
	}
}

// transform makes the output of a record and does its share of the work.
func (c Config) transform(ctx context.Context, r *kgo.Record, nth int) *kgo.Record {
	if nth%pausedEvery == 0 {
		select {
		case <-ctx.Done():
		case <-time.After(c.Pause):
		}
	}
	return &kgo.Record{Topic: c.Output, Key: r.Key, Value: r.Value}
}
