package processor

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/eos/guard"
	"github.com/weirstream/weir/topology"
)

// Option is a setting of New and Main. A flag or environment variable of Main
// wins over an option.
type Option interface{ apply(*config) error }

type optionFunc func(*config) error

func (f optionFunc) apply(c *config) error { return f(c) }

// config is what options, flags and environment add up to.
type config struct {
	engine       eos.Config
	policies     policies
	deadLetter   string
	registerer   prometheus.Registerer
	gate         *guard.Gate
	httpAddr     string
	trimInterval time.Duration
	stuckAfter   time.Duration
}

func newConfig(applicationID string, opts []Option) (*config, error) {
	c := &config{
		engine:       eos.Config{ApplicationID: applicationID, StartTimeout: 60 * time.Second},
		deadLetter:   applicationID + "-dlq",
		trimInterval: 30 * time.Second,
		stuckAfter:   5 * time.Minute,
	}
	var faults []error
	if strings.HasSuffix(applicationID, deliverySuffix) {
		faults = append(faults, fmt.Errorf("application id %q ends in %q, and would share a group with the delivery of %q: choose another one",
			applicationID, deliverySuffix, strings.TrimSuffix(applicationID, deliverySuffix)))
	}
	for _, o := range opts {
		if o == nil {
			faults = append(faults, errors.New("an option is nil"))
			continue
		}
		faults = append(faults, o.apply(c))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, badConfig(err)
	}
	return c, nil
}

// engineOption is an option that only sets fields eos.New checks.
func engineOption(set func(*eos.Config)) Option {
	return optionFunc(func(c *config) error { set(&c.engine); return nil })
}

// WithBrokers sets the first addresses to try, as host:port. Required.
func WithBrokers(brokers ...string) Option {
	return engineOption(func(c *eos.Config) { c.Brokers = brokers })
}

// WithCommitInterval bounds how long a transaction stays open before it is
// committed. Default 100ms; d must be at least 5ms.
func WithCommitInterval(d time.Duration) Option {
	return engineOption(func(c *eos.Config) { c.CommitInterval = d })
}

// WithLanes sets how many goroutines process records, each with transactions of
// its own. Default 1, at most 256.
func WithLanes(n int) Option { return engineOption(func(c *eos.Config) { c.Lanes = n }) }

// WithSlots sets how many transactional producers take turns in a lane. Default
// 2; a round trip to the brokers of several milliseconds wants 3.
func WithSlots(n int) Option { return engineOption(func(c *eos.Config) { c.Slots = n }) }

// WithInstanceID names this process for good (group.instance.id). Default: one
// made of the host name and a lock in the state folder.
func WithInstanceID(id string) Option {
	return engineOption(func(c *eos.Config) { c.InstanceID = id })
}

// WithStateDir sets the folder of the lock files of instance ids. Default: weir
// in the system's temporary folder.
func WithStateDir(dir string) Option { return engineOption(func(c *eos.Config) { c.StateDir = dir }) }

// WithStart sets where an application without any committed offset begins.
// Default eos.Earliest.
func WithStart(at eos.StartAt) Option { return engineOption(func(c *eos.Config) { c.Start = at }) }

// WithLostOffsets says what happens when records were deleted before they were
// processed. Default eos.Stop.
func WithLostOffsets(l eos.LostOffsets) Option {
	return engineOption(func(c *eos.Config) { c.OnLostOffsets = l })
}

// WithSessionTimeout sets after how long of silence the group gives a member's
// partitions away. Default 10s.
func WithSessionTimeout(d time.Duration) Option {
	return engineOption(func(c *eos.Config) { c.SessionTimeout = d })
}

// WithTransactionTimeout sets after how long a broker aborts an open transaction
// by itself. Default 30s; must exceed the commit interval.
func WithTransactionTimeout(d time.Duration) Option {
	return engineOption(func(c *eos.Config) { c.TransactionTimeout = d })
}

// WithStartTimeout bounds the start: reach the brokers, check the topics, fence
// the predecessor. Default 60s.
func WithStartTimeout(d time.Duration) Option {
	return optionFunc(func(c *config) error {
		if d <= 0 {
			return fmt.Errorf("start timeout %v must be positive", d)
		}
		c.engine.StartTimeout = d
		return nil
	})
}

// WithDrainTimeout bounds the shutdown. Default 15s.
func WithDrainTimeout(d time.Duration) Option {
	return engineOption(func(c *eos.Config) { c.DrainTimeout = d })
}

// WithOriginHeaders adds topic id, partition and offset of the input to every
// output; see eos.HeaderTopicID.
func WithOriginHeaders() Option { return engineOption(func(c *eos.Config) { c.OriginHeaders = true }) }

// WithClientOptions passes options to every Kafka client: TLS, SASL, client id,
// rack, dialer, sizes. Options that decide exactly-once are refused by New, each
// with its reason.
func WithClientOptions(opts ...kgo.Opt) Option {
	return engineOption(func(c *eos.Config) { c.Client = append(c.Client, opts...) })
}

// WithLogger sets the logger. Default slog.Default(); Main makes its own.
func WithLogger(l *slog.Logger) Option { return engineOption(func(c *eos.Config) { c.Logger = l }) }

// WithObserver adds an observer of the engine's steps.
func WithObserver(o eos.Observer) Option { return engineOption(func(c *eos.Config) { c.Observer = o }) }

// WithRegisterer registers the metrics there while the application runs, with
// the label app. Two applications of one process may share a Registerer.
// Default: none; the metrics are at /metrics in any case.
func WithRegisterer(r prometheus.Registerer) Option {
	return optionFunc(func(c *config) error { c.registerer = r; return nil })
}

// WithHTTPAddr serves /livez, /readyz, /metrics and /topology on host:port.
// Default: no server.
func WithHTTPAddr(addr string) Option {
	return optionFunc(func(c *config) error { c.httpAddr = addr; return nil })
}

// WithErrorPolicy says what becomes of a record that fails in phase. Default
// Fail().
func WithErrorPolicy(phase topology.Phase, p Policy) Option {
	return optionFunc(func(c *config) error {
		if phase < topology.PhaseDecode || phase > topology.PhaseEffect {
			return fmt.Errorf("error policy: %v is no phase", phase)
		}
		if p.bad != nil {
			return fmt.Errorf("error policy of phase %v: %w", phase, p.bad)
		}
		c.policies[phase] = p
		return nil
	})
}

// WithGate lets the effects of the gate leave Kafka. Required by a topology that
// emits effects, or reads how they ended. The effects are performed by every
// process of the application.
func WithGate(g *guard.Gate) Option {
	return optionFunc(func(c *config) error {
		if g == nil {
			return errors.New("the gate is nil")
		}
		c.gate = g
		return nil
	})
}

// WithDeadLetterTopic sets the topic of dead letters. Default
// <application.id>-dlq. It must exist if a policy is DeadLetter.
func WithDeadLetterTopic(topic string) Option {
	return optionFunc(func(c *config) error {
		if topic == "" {
			return errors.New("the dead letter topic has no name")
		}
		c.deadLetter = topic
		return nil
	})
}

// WithTrimInterval sets how often processed records of internal topics
// (repartition, intents, outcomes) are deleted. Default 30s; d must be at least 100ms.
func WithTrimInterval(d time.Duration) Option {
	return optionFunc(func(c *config) error {
		if d < 100*time.Millisecond {
			return fmt.Errorf("trim interval %v must be at least 100ms", d)
		}
		c.trimInterval = d
		return nil
	})
}

// WithStuckAfter sets how long one record may be worked on before /livez fails.
// Default 5m; d must be at least 1s.
func WithStuckAfter(d time.Duration) Option {
	return optionFunc(func(c *config) error {
		if d < time.Second {
			return fmt.Errorf("stuck after %v: must be at least 1s", d)
		}
		c.stuckAfter = d
		return nil
	})
}

// badConfig is an eos.ErrConfig on one line.
func badConfig(err error) error {
	return &eos.Error{Cause: eos.ErrConfig, Partition: -1, Offset: -1, What: oneLine(err)}
}
