package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"
)

const (
	readyTimeout = 30 * time.Second // all workers of both fleets
	drainTimeout = 30 * time.Second // the input, after the load ended
	tickEvery    = time.Second      // the progress line
)

// run is one demo under way. Owner: the goroutine of Run.
type run struct {
	opts     Options
	cluster  *cluster
	names    names
	session  time.Duration
	weir     *fleet
	plain    *fleet
	load     load
	kills    int
	begun    time.Time // when both fleets had committed their first records
	progress progress
}

// Run goes through a demo and prints it. The Report is complete if the error is
// nil; whether it demonstrates anything is what Report.Verdict says.
//
// The error says what kept the demo from its end: no cluster, a worker that ended
// by itself, or ctx. No worker is left behind in any case, nor, unless Keep is
// set, a topic or group on the user's cluster.
func Run(ctx context.Context, opts Options) (report Report, err error) {
	if err := opts.Check(); err != nil {
		return Report{}, err
	}
	c, err := openCluster(ctx, opts.Brokers)
	if err != nil {
		return Report{}, err
	}
	defer c.close()
	r := &run{opts: opts, cluster: c, names: newNames(), session: c.session(ctx), progress: newProgress(opts.Out)}
	r.weir = newFleet(opts.Command, r.tasks(fleetWeir, r.names.weirGroup, r.names.weirOut))
	r.plain = newFleet(opts.Command, r.tasks(fleetPlain, r.names.plainGroup, r.names.plainOut))
	if err := c.create(ctx, r.names); err != nil {
		return Report{}, err
	}
	if c.fake == nil && !opts.Keep {
		defer func() { err = errors.Join(err, c.remove(context.WithoutCancel(ctx), r.names, r.instances())) }()
	}
	defer r.weir.killAll()
	defer r.plain.killAll()
	if err := r.flow(ctx); err != nil {
		return Report{}, err
	}
	if report, err = r.count(ctx); err != nil {
		return Report{}, err
	}
	report.print(opts.Out)
	if opts.Keep {
		r.keep(ctx)
	}
	return report, nil
}

func (r *run) tasks(kind, group, out string) []task {
	tasks := make([]task, r.opts.Workers)
	for n := range tasks {
		tasks[n] = task{
			Fleet: kind, Brokers: r.cluster.brokers, Group: group, Instance: instance(n),
			In: r.names.in, Out: out, Session: r.session,
		}
	}
	return tasks
}

func instance(n int) string { return fmt.Sprintf("worker-%d", n) }

func (r *run) instances() []string {
	var all []string
	for n := range r.opts.Workers {
		all = append(all, instance(n))
	}
	return all
}

// flow starts both fleets, lets records flow while workers are killed, waits
// until all is processed, and stops the workers.
func (r *run) flow(ctx context.Context) error {
	r.progress.head(r)
	for n := range r.opts.Workers {
		if err := errors.Join(r.weir.start(n), r.plain.start(n)); err != nil {
			return err
		}
	}
	ready, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	if err := errors.Join(r.weir.ready(ready), r.plain.ready(ready)); err != nil {
		return err
	}
	g, flowing := errgroup.WithContext(ctx)
	stop := make(chan struct{})
	g.Go(func() error {
		return r.load.run(flowing, r.cluster.kgo, r.names.in, rand.New(rand.NewPCG(r.opts.Seed, 1)), r.opts.Rate, stop)
	})
	g.Go(func() error {
		defer close(stop)
		if err := r.warm(flowing); err != nil {
			return err
		}
		return r.storm(flowing)
	})
	if err := g.Wait(); err != nil {
		return err
	}
	if err := r.drain(ctx); err != nil {
		return err
	}
	return errors.Join(r.weir.stop(), r.plain.stop())
}

// warm waits until both fleets have committed their first records: a cluster may
// take seconds for its first transactions and groups.
func (r *run) warm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for {
		weir, err := r.cluster.done(ctx, r.names.weirGroup)
		if err != nil {
			return err
		}
		plain, err := r.cluster.done(ctx, r.names.plainGroup)
		if err != nil {
			return err
		}
		r.begun = time.Now()
		if weir > 0 && plain > 0 {
			return nil
		}
		if err := r.until(ctx, r.begun.Add(tickEvery/10)); err != nil {
			return fmt.Errorf("no records were committed within %v (weir %d, plain loop %d): %w", readyTimeout, weir, plain, err)
		}
	}
}

// event is a kill, or the start that follows it.
type event struct {
	kill
	start bool
}

// storm kills and restarts by the plan.
func (r *run) storm(ctx context.Context) error {
	var agenda []event
	for _, k := range killPlan(rand.New(rand.NewPCG(r.opts.Seed, 2)), r.opts.flow(), r.opts.Workers) {
		agenda = append(agenda, event{kill: k})
		if k.back > 0 {
			agenda = append(agenda, event{kill: kill{at: k.at + k.back, worker: k.worker}, start: true})
		}
	}
	slices.SortStableFunc(agenda, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	for _, e := range agenda {
		if err := r.until(ctx, r.begun.Add(e.at)); err != nil {
			return err
		}
		if e.start {
			if err := errors.Join(r.weir.start(e.worker), r.plain.start(e.worker)); err != nil {
				return err
			}
			continue
		}
		weir, plain := r.weir.strike(e.worker), r.plain.strike(e.worker)
		r.weir.bury(e.worker)
		r.plain.bury(e.worker)
		if weir != 0 && plain != 0 {
			r.kills++
		}
		r.progress.killed(e.kill, weir, plain)
	}
	return r.until(ctx, r.begun.Add(r.opts.flow()))
}

// until shows the progress until a time.
func (r *run) until(ctx context.Context, when time.Time) error {
	due := time.NewTimer(time.Until(when))
	defer due.Stop()
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case err := <-r.weir.failed:
			return cmp.Or(context.Cause(ctx), err) // an interrupt from a terminal reaches the workers, too
		case err := <-r.plain.failed:
			return cmp.Or(context.Cause(ctx), err)
		case <-due.C:
			return nil
		case <-tick.C:
			if _, err := r.show(ctx); err != nil {
				return err
			}
		}
	}
}

// show prints the progress and says whether both groups are at the end of what
// has been written so far.
func (r *run) show(ctx context.Context) (drained bool, err error) {
	written := int(r.load.acked.Load())
	weir, err := r.cluster.done(ctx, r.names.weirGroup)
	if err != nil {
		return false, err
	}
	plain, err := r.cluster.done(ctx, r.names.plainGroup)
	if err != nil {
		return false, err
	}
	r.progress.flow(time.Since(r.begun), written, weir, plain, r.kills)
	return weir >= written && plain >= written, nil
}

// drain waits until all input is processed. What is left after the deadline will
// be counted as lost.
func (r *run) drain(ctx context.Context) error {
	deadline := time.Now().Add(drainTimeout)
	for {
		drained, err := r.show(ctx)
		if err != nil || drained {
			return err
		}
		if time.Now().After(deadline) {
			r.progress.line("not all input was processed %v after the last record; what is missing counts as lost", drainTimeout)
			return nil
		}
		if err := r.until(ctx, time.Now().Add(tickEvery/4)); err != nil {
			return err
		}
	}
}

// count reads both outputs and judges them.
func (r *run) count(ctx context.Context) (Report, error) {
	ends, err := r.cluster.settled(ctx, r.names.weirOut, r.names.plainOut)
	if err != nil {
		return Report{}, err
	}
	weir, err := r.cluster.read(ctx, r.names.weirOut, kgo.ReadCommitted(), ends)
	if err != nil {
		return Report{}, err
	}
	all, err := r.cluster.read(ctx, r.names.weirOut, kgo.ReadUncommitted(), ends)
	if err != nil {
		return Report{}, err
	}
	plain, err := r.cluster.read(ctx, r.names.plainOut, kgo.ReadCommitted(), ends)
	if err != nil {
		return Report{}, err
	}
	return Report{
		Weir: Judge(r.load.inputs, weir), Plain: Judge(r.load.inputs, plain), Kills: r.kills,
		Hidden:    len(all) - len(weir),
		Committed: r.weir.count("committed"), Unknown: r.weir.count("unknown"),
		Aborted: r.weir.count("aborted") + r.weir.count("fenced"),
	}, nil
}

// keep says how to look at what is left; an embedded cluster lives until ctx
// ends.
func (r *run) keep(ctx context.Context) {
	at := strings.Join(r.cluster.brokers, ",")
	r.progress.line("")
	r.progress.line("kept at %s: %s", at, strings.Join(r.names.topics(), ", "))
	for _, topic := range r.names.topics() {
		r.progress.line("  weir dev consume %s --brokers %s --key-separator ' '", topic, at)
	}
	if r.cluster.fake != nil {
		r.progress.line("The embedded cluster runs until Ctrl-C.")
		<-ctx.Done()
	}
}
