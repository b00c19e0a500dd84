package eos

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"
)

// Handler turns one input record into outputs, which it stages in out. It must
// not keep out beyond the call, nor change r.
//
// nil: the outputs and the offset commit together. RetryAfter: the same record
// comes again later. Any other error ends Run; the records before it commit.
type Handler = func(r *kgo.Record, out *Out) error

// Engine runs one member of an application. Make it with New.
type Engine struct {
	cfg    Config
	log    *slog.Logger
	member *member
	lanes  []*lane

	// takeovers counts fencings by another producer since the last commit.
	takeovers atomic.Int64

	started atomic.Bool
	// runCtx ends when the engine is to stop; failure is why, nil when it was
	// asked to.
	runCtx  context.Context //nolint:containedctx // made and ended by Run
	stop    context.CancelFunc
	failure atomic.Pointer[Error]
	ready   atomic.Bool

	batches batchLimits

	// making keeps two clients from being made at once: franz-go's
	// DefaultCompressor writes to the codecs of a shared option.
	making sync.Mutex
}

// New checks cfg without any network traffic. The error is an *Error with
// cause ErrConfig that names every fault.
func New(cfg Config) (*Engine, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	e := &Engine{cfg: cfg, log: cfg.Logger.With("app", cfg.ApplicationID)}
	return e, nil
}

// Run polls, calls fn once or more for every record, and commits outputs and
// offsets together until ctx ends. What fn hands to out is staged and released
// only when fn returns nil; one call of fn per record commits.
//
// nil: ctx ended and every open transaction was committed or aborted within
// Config.DrainTimeout. Otherwise an *Error: ErrFenced means that another
// process owns this identity, do not restart in a loop; the others name topic,
// partition and offset where there are any, and what to do.
//
// fn is called from one goroutine for each lane, several at once with
// Config.Lanes above 1, and for the records of one partition in order. Run may
// be called once. Source: KIP-98, KIP-447, KIP-345.
func (e *Engine) Run(ctx context.Context, fn Handler) error {
	if e.started.Swap(true) {
		return newError(ErrConfig, "Run was called twice", "make a new Engine", nil)
	}
	id, err := takeIdentity(e.cfg.ApplicationID, e.cfg.InstanceID, e.cfg.StateDir)
	if err != nil {
		return err
	}
	e.log = e.log.With("member", id.instance)
	err = e.run(ctx, id, fn)
	if released := id.release(); released != nil {
		err = errors.Join(err, released)
	}
	return err
}

func (e *Engine) run(ctx context.Context, id *identity, fn Handler) error {
	e.runCtx, e.stop = context.WithCancel(ctx)
	defer e.stop()
	e.member = newMember(e, id)
	for n := range e.cfg.Lanes {
		e.lanes = append(e.lanes, newLane(e, n))
	}
	if err := e.start(e.runCtx); err != nil {
		e.closeLanes()
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	err := e.serve(context.WithoutCancel(ctx), fn)
	if cause := e.failure.Load(); cause != nil {
		return cause
	}
	return err
}

// start does everything that comes before joining the group.
func (e *Engine) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, e.cfg.StartTimeout)
	defer cancel()
	client, err := e.newClient(e.cfg.plainOptions())
	if err != nil {
		return newError(ErrConfig, "the client options do not fit together", "mend them", err)
	}
	defer client.Close()
	m := e.member
	m.adm = kadm.NewClient(client)
	if err := m.prepare(ctx, client); err != nil {
		return err
	}
	open, err := m.openTransactions(ctx, memberPrefix(e.cfg.ApplicationID, m.id.instance))
	if err != nil {
		return m.startError("the open transactions cannot be listed", err)
	}
	g, ctx := errgroup.WithContext(ctx)
	own := map[string]bool{}
	for _, l := range e.lanes {
		for _, s := range l.slots {
			own[s.id] = true
		}
		g.Go(func() error { return l.init(ctx) })
	}
	for _, id := range open {
		if !own[id] { // left by a run with more lanes or slots
			g.Go(func() error {
				if err := m.fence(ctx, id); err != nil {
					return m.startError("the open transaction "+id+" cannot be aborted", err)
				}
				return nil
			})
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	e.observe(Event{Kind: Identified})
	return nil
}

// serve joins the group and works until runCtx ends, then drains and leaves.
func (e *Engine) serve(background context.Context, fn Handler) error {
	m := e.member
	client, err := e.newClient(e.cfg.memberOptions(m.id.instance, m))
	if err != nil {
		e.closeLanes()
		return newError(ErrConfig, "the client options do not fit together", "mend them", err)
	}
	m.begin(client)
	for _, l := range e.lanes {
		l.start(background, fn)
	}
	e.ready.Store(true)
	g := errgroup.Group{}
	g.Go(func() error { m.poll(e.runCtx); return nil })
	g.Go(func() error { m.watchTopics(e.runCtx); return nil })
	var fencing sync.WaitGroup
	fencing.Go(func() { m.fencing.run(e.runCtx, m.afterGain) })
	<-e.runCtx.Done()
	e.ready.Store(false)
	return e.shutdown(background, &g, &fencing)
}

// shutdown: stop polling, commit what is under way, leave, close. Everything
// within one deadline.
func (e *Engine) shutdown(background context.Context, polling *errgroup.Group, fencing *sync.WaitGroup) error {
	m := e.member
	ctx, cancel := context.WithTimeout(background, e.cfg.DrainTimeout)
	defer cancel()
	_ = polling.Wait() // returns nil
	drained := true
	for _, l := range e.lanes {
		drained = l.drain(ctx) && drained
	}
	m.drained.Store(true)
	for _, l := range e.lanes {
		l.stop(drained)
	}
	fencing.Wait()
	m.leave(background)
	m.client.CloseAllowingRebalance()
	if !drained {
		return newError(ErrDrain, fmt.Sprintf("transactions were still open %v after the shutdown began; the broker aborts them", e.cfg.DrainTimeout),
			"their records are processed again by the next owner", nil)
	}
	return nil
}

func (e *Engine) closeLanes() {
	for _, l := range e.lanes {
		l.alarm.Stop()
		for _, s := range l.slots {
			s.discard()
		}
	}
}

// fail ends the engine; the first failure is what Run returns, also when it is
// met while the engine is being stopped.
func (e *Engine) fail(err error) {
	failure := asError(err)
	if e.failure.CompareAndSwap(nil, failure) {
		e.log.Error("stopping", "error", failure)
	}
	e.stop()
}

// fenced says whether the engine ends because its identity is another's.
func (e *Engine) fenced() bool {
	failure := e.failure.Load()
	return failure != nil && errors.Is(failure, ErrFenced)
}

func (e *Engine) observe(ev Event) {
	if e.cfg.Observer != nil {
		e.cfg.Observer.Observe(ev)
	}
}
