package bench

import (
	"context"
	"encoding/json"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"
)

// loopOptions is what the hand-written loops run with beyond clientOptions.
const loopOptions = "read_committed, cooperative-sticky, protocol 3.9, PollRecords(10000), abort on the first failed output"

func (s Spec) loopClient() ([]kgo.Opt, error) {
	opts, err := s.clientOptions()
	return append(opts,
		kgo.SeedBrokers(s.Brokers...),
		kgo.ConsumerGroup(s.Group),
		kgo.ConsumeTopics(s.In),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.Balancers(kgo.CooperativeStickyBalancer()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.MaxVersions(kversion.V3_9_0()),
		kgo.ProducerLinger(s.Linger),
	), err
}

// transform turns an input value into the output value.
type transform func(value []byte) ([]byte, error)

func copyValue(v []byte) ([]byte, error) { return v, nil }

// transactLoop is the loop an expert writes with GroupTransactSession: poll and
// produce for a commit interval, then end the transaction.
func transactLoop(fn transform) contender {
	return func(ctx context.Context, s Spec) error {
		opts, err := s.loopClient()
		if err != nil {
			return err
		}
		session, err := kgo.NewGroupTransactSession(append(opts, kgo.TransactionalID(s.Group))...)
		if err != nil {
			return err
		}
		defer session.Close()
		for ctx.Err() == nil {
			if err := transactOnce(ctx, session, s, fn); err != nil {
				return err
			}
		}
		return nil
	}
}

func transactOnce(ctx context.Context, session *kgo.GroupTransactSession, s Spec, fn transform) error {
	if err := session.Begin(); err != nil {
		return err
	}
	latch := kgo.AbortingFirstErrPromise(session.Client())
	interval, cancel := context.WithTimeout(ctx, s.Commit)
	defer cancel()
	for interval.Err() == nil {
		var failed error
		fetches := session.PollRecords(interval, 10_000)
		fetches.EachRecord(func(r *kgo.Record) {
			v, err := fn(r.Value)
			if err != nil {
				failed = err
				return
			}
			session.Produce(ctx, &kgo.Record{Topic: s.Out, Key: r.Key, Value: v}, latch.Promise())
		})
		if failed != nil {
			return failed
		}
	}
	background := context.WithoutCancel(ctx)
	if err := session.Client().Flush(background); err != nil { // latch.Err alone would wait out the linger
		return err
	}
	committed, err := session.End(background, kgo.TransactionEndTry(latch.Err() == nil))
	if err == nil && !committed {
		err = latch.Err() // nil: a rebalance; the session has gone back, and the loop goes on
	}
	return err
}

// reading is the value of the JSON contenders: 89 bytes.
type reading struct {
	Sensor string    `json:"sensor"`
	At     time.Time `json:"at"`
	Value  float64   `json:"value"`
	Count  int64     `json:"count"`
}

func jsonValue(v []byte) ([]byte, error) {
	var r reading
	if err := json.Unmarshal(v, &r); err != nil {
		return nil, err
	}
	r.Count++
	return json.Marshal(r)
}
