package killmatrix_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/internal/crashtest"
	"github.com/weirstream/weir/internal/faultproxy"
)

// workerConfig is what a worker process is told.
type workerConfig struct {
	App      string
	Instance string
	Client   string // client.id, by which the proxy's rules know the worker
	Proxy    string // faultproxy.Env
	Brokers  []string
	Input    string
	Outputs  []string
	Lanes    int
	Session  time.Duration
	// Answer bounds how long franz-go waits for an answer beyond what the
	// request itself allows; 0: franz-go's 10s.
	Answer time.Duration
	// Retry bounds how long franz-go repeats a request; 0: franz-go's 30s.
	Retry time.Duration
}

// pointOf names an event: its kind, and for the end of a transaction how it
// ended, as in "answered committed".
func pointOf(e eos.Event) string {
	if e.Outcome == 0 {
		return e.Kind.String()
	}
	return e.Kind.String() + " " + e.Outcome.String()
}

// runEngine is the worker: an engine whose every step can be armed, as
// "flushed" for any transaction and as "flushed of <transactional.id>" for one.
// It is ready after its first commit, and notes each step of a transaction.
func runEngine(ctx context.Context, self *crashtest.Self) error {
	var c workerConfig
	if err := self.Decode(&c); err != nil {
		return err
	}
	cfg, err := c.engine()
	if err != nil {
		return err
	}
	var first sync.Once
	cfg.Observer = eos.ObserverFunc(func(e eos.Event) {
		point := pointOf(e)
		named := point + " of " + e.TransactionalID
		self.Note("%s %s", named, e.Reason)
		if !self.Reach(point) {
			self.Reach(named)
		}
		if e.Kind == eos.Ended && e.Outcome == eos.Committed {
			first.Do(self.Ready)
		}
	})
	engine, err := eos.New(cfg)
	if err != nil {
		return err
	}
	return engine.Run(ctx, func(r *kgo.Record, out *eos.Out) error {
		if strings.HasPrefix(string(r.Value), poison) {
			out.Produce(&kgo.Record{Topic: c.Outputs[0], Key: r.Key, Value: make([]byte, 2*maxMessageBytes)})
			return nil
		}
		c.produce(r, out)
		return nil
	})
}

func (c workerConfig) produce(r *kgo.Record, out *eos.Out) {
	for _, o := range outputs(c.Outputs, r.Key, r.Value) {
		out.Produce(&kgo.Record{Topic: o.Topic, Key: o.Key, Value: o.Value})
	}
}

func (c workerConfig) engine() (eos.Config, error) {
	proxy, err := faultproxy.ParseEnv(c.Proxy)
	if err != nil {
		return eos.Config{}, fmt.Errorf("worker: %w", err)
	}
	options := []kgo.Opt{
		kgo.ClientID(c.Client), kgo.Dialer(faultproxy.Dialer(proxy)),
		kgo.ProducerBatchCompression(kgo.NoCompression()), // a refused output stays large
	}
	if c.Answer > 0 {
		options = append(options, kgo.RequestTimeoutOverhead(c.Answer))
	}
	if c.Retry > 0 {
		options = append(options, kgo.RetryTimeout(c.Retry))
	}
	return eos.Config{
		ApplicationID: c.App, InstanceID: c.Instance, Brokers: c.Brokers, Topics: []string{c.Input},
		Lanes: c.Lanes, SessionTimeout: c.Session, HeartbeatInterval: 500 * time.Millisecond,
		// Far beyond what a cell may take: a transaction that is left open is
		// seen, and not cleared away by the broker.
		TransactionTimeout: transactionTimeout,
		MinAge:             100 * time.Millisecond,
		OnRefused: func(r *kgo.Record, _ *eos.Refusal, out *eos.Out) error {
			c.produce(r, out)
			return nil
		},
		Client: options,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}, nil
}
