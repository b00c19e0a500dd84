package enginetest

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/internal/crashtest"
	"github.com/weirstream/weir/internal/crashtest/verdict"
	"github.com/weirstream/weir/internal/faultproxy"
)

// FuncName is the name under which a TestMain gives Run to crashtest.Main.
const FuncName = "engine"

// Config is what a worker process is told. Zero durations and counts leave the
// engine's and franz-go's own defaults.
type Config struct {
	App, Input, Output string
	Brokers            []string
	Proxy              string // faultproxy.Env; empty: straight to the brokers
	Client             string // client.id
	Instance           string // group.instance.id; empty: generated, given up at the end
	StateDir           string
	Lanes              int
	CommitInterval     time.Duration
	Session            time.Duration
	TransactionTimeout time.Duration
	Answer, Retry      time.Duration // franz-go's RequestTimeoutOverhead and RetryTimeout
}

// Note is one event of the engine.
type Note struct {
	At         time.Time
	Kind       string
	Outcome    string `json:",omitempty"`
	Reason     string `json:",omitempty"`
	ID         string `json:",omitempty"` // transactional.id
	Records    int    `json:",omitempty"`
	Partitions map[string][]int32
}

// Notes are the events that a worker has noted so far.
func Notes(w *crashtest.Worker) []Note {
	var out []Note
	for _, line := range w.Notes() {
		var n Note
		if json.Unmarshal([]byte(line), &n) == nil {
			out = append(out, n)
		}
	}
	return out
}

// Oracle is what the transform makes of a record: the same value on the output
// topic.
func Oracle(output string) verdict.Oracle {
	return func(r verdict.Record) []verdict.Out {
		return []verdict.Out{{Topic: output, Key: r.Key, Value: r.Value}}
	}
}

// Run is the worker function. It is ready at its first assignment. Each step
// can be armed as "<kind>" and as "<kind> of <transactional.id>".
func Run(ctx context.Context, self *crashtest.Self) error {
	var c Config
	if err := self.Decode(&c); err != nil {
		return err
	}
	cfg, err := c.engine()
	if err != nil {
		return err
	}
	var once sync.Once
	cfg.Observer = eos.ObserverFunc(func(e eos.Event) {
		n := Note{At: time.Now(), Kind: e.Kind.String(), Reason: string(e.Reason), ID: e.TransactionalID, Records: e.Records, Partitions: e.Partitions}
		if e.Outcome != 0 {
			n.Outcome = e.Outcome.String()
		}
		if line, err := json.Marshal(n); err == nil { // strings and numbers: always
			self.Note("%s", line)
		}
		if !self.Reach(n.Kind) {
			self.Reach(n.Kind + " of " + n.ID)
		}
		if e.Kind == eos.Assigned {
			once.Do(self.Ready)
		}
	})
	engine, err := eos.New(cfg)
	if err != nil {
		return err
	}
	return engine.Run(ctx, func(r *kgo.Record, out *eos.Out) error {
		out.Produce(&kgo.Record{Topic: c.Output, Key: r.Key, Value: r.Value})
		return nil
	})
}

func (c Config) engine() (eos.Config, error) {
	proxy, err := faultproxy.ParseEnv(c.Proxy)
	if err != nil {
		return eos.Config{}, err
	}
	options := []kgo.Opt{kgo.ClientID(c.Client), kgo.Dialer(faultproxy.Dialer(proxy))}
	if c.Answer > 0 {
		options = append(options, kgo.RequestTimeoutOverhead(c.Answer))
	}
	if c.Retry > 0 {
		options = append(options, kgo.RetryTimeout(c.Retry))
	}
	return eos.Config{
		ApplicationID: c.App, InstanceID: c.Instance, StateDir: c.StateDir, Brokers: c.Brokers, Topics: []string{c.Input},
		Lanes: c.Lanes, CommitInterval: c.CommitInterval, SessionTimeout: c.Session, TransactionTimeout: c.TransactionTimeout,
		Client: options,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}, nil
}
