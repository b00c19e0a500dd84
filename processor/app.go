package processor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/topology"
)

// guaranteeText is logged at every start: the promise, and where it ends.
const guaranteeText = "outputs, dead letters and input offsets commit together, once, within this Kafka cluster; outside of it only effects of the gate have a promise, each its own"

// App is one application on Kafka. Make it with New.
type App struct {
	cfg    *config
	log    *slog.Logger
	plan   *topology.Plan
	engine *eos.Engine
	// delivery brings effects out; nil without a gate.
	delivery *delivery
	metrics  *metrics
	reg      *prometheus.Registry // what /metrics shows

	workers []*worker   // one a lane
	fatal   atomic.Bool // Run has ended with an error
	ids     map[string][16]byte
	letters int // largest value of a dead letter, in bytes
}

// New checks topology and options without any network traffic. The application
// id is the group.id and the prefix of everything that is created. The error
// names every fault; it matches topology.ErrInvalid or eos.ErrConfig.
func New(applicationID string, build func(*topology.Builder), opts ...Option) (*App, error) {
	if build == nil {
		return nil, badConfig(errors.New("the function that builds the topology is nil"))
	}
	cfg, err := newConfig(applicationID, opts)
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(applicationID, build)
	if err != nil {
		return nil, err
	}
	return newApp(cfg, plan)
}

func newPlan(applicationID string, build func(*topology.Builder)) (*topology.Plan, error) {
	b := topology.New()
	build(b)
	top, err := b.Build()
	if err != nil {
		return nil, err
	}
	return top.Resolve(applicationID)
}

func newApp(cfg *config, plan *topology.Plan) (*App, error) {
	a := &App{cfg: cfg, plan: plan, reg: prometheus.NewRegistry(), ids: map[string][16]byte{}}
	if cfg.engine.Logger == nil {
		cfg.engine.Logger = slog.Default()
	}
	a.log = cfg.engine.Logger.With("app", cfg.engine.ApplicationID)
	ec := cfg.engine
	ec.Topics = plan.Sources()
	ec.OnRefused = a.refused
	a.metrics = newMetrics(a)
	ec.Observer = both(a.metrics, cfg.engine.Observer)
	var err error
	if a.engine, err = eos.New(ec); err != nil {
		return nil, err
	}
	if a.delivery, err = newDelivery(a); err != nil {
		return nil, err
	}
	tasks := taskNames(plan)
	for range max(1, cfg.engine.Lanes) {
		a.workers = append(a.workers, newWorker(a, tasks))
	}
	return a, nil
}

// Describe returns the topology as text: each step, where its result is fixed,
// where the offset is acknowledged, who owns an external effect.
func (a *App) Describe() string { return a.plan.Describe() }

// Mermaid returns the topology as a Mermaid flow chart.
func (a *App) Mermaid() string { return a.plan.Mermaid() }

// Run checks the topics, makes the internal ones, and processes until ctx ends.
// It may be called once.
//
// nil: ctx ended and every open transaction was committed or aborted. Otherwise
// an error that says what happened, where and what to do: eos.ErrFenced means
// that another process has this identity, do not restart in a loop.
func (a *App) Run(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			a.fatal.Store(true)
		}
	}()
	unregister, err := a.register()
	if err != nil {
		return err
	}
	defer unregister()
	g, ctx := errgroup.WithContext(ctx)
	// The helpers below live as long as the engine, whichever way it ends.
	helpers, stop := context.WithCancel(ctx)
	defer stop()
	if err := a.serveHTTP(helpers, g); err != nil {
		return err
	}
	g.Go(func() error {
		defer stop()
		return a.process(ctx, helpers, stop)
	})
	return g.Wait()
}

// process prepares the topics and runs the engines.
func (a *App) process(ctx, helpers context.Context, stop context.CancelFunc) error {
	client, err := kgo.NewClient(a.adminOptions()...)
	if err != nil {
		return badConfig(fmt.Errorf("the client options do not fit together: %w", err))
	}
	defer client.Close()
	adm := kadm.NewClient(client)
	if err := a.prepare(ctx, client, adm); err != nil {
		if ctx.Err() != nil {
			return nil // asked to stop before it had begun
		}
		return err
	}
	if a.delivery != nil {
		if err := a.delivery.own(ctx); err != nil {
			return err
		}
	}
	trimming := make(chan struct{})
	go func() { // ends with helpers; awaited below, before its client closes
		defer close(trimming)
		a.trim(helpers, adm)
	}()
	defer func() { stop(); <-trimming }()
	a.log.Info("starting", "topics", strings.Join(a.plan.Sources(), ","), "sinks", strings.Join(a.plan.Sinks(), ","),
		"tasks", len(a.plan.Subtopologies()), "lanes", len(a.workers), "guarantee", guaranteeText)
	if a.delivery != nil {
		a.delivery.explain()
	}
	err = a.runEngines(ctx)
	a.fatal.Store(err != nil)
	a.log.Info("stopped", "clean", err == nil)
	return err
}

// runEngines ends when one of them does.
func (a *App) runEngines(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return a.engine.Run(ctx, a.handle) })
	if a.delivery != nil {
		g.Go(func() error { return a.delivery.run(ctx) })
	}
	return g.Wait()
}

func (a *App) adminOptions() []kgo.Opt {
	user := a.cfg.engine.Client
	return append(user[:len(user):len(user)], kgo.SeedBrokers(a.cfg.engine.Brokers...), kgo.DisableClientMetrics())
}

// taskNames gives, for each source topic, the number of its sub-topology.
func taskNames(plan *topology.Plan) map[string]int {
	tasks := map[string]int{}
	for _, sub := range plan.Subtopologies() {
		for _, topic := range sub.Sources {
			tasks[topic] = sub.ID
		}
	}
	return tasks
}

func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
