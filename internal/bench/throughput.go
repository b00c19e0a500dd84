package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Options of a throughput run.
type Options struct {
	Brokers []string
	// Child are the arguments that lead this program to RunChild.
	Child []string
	// Rounds is how often each contender runs; two rounds make an ABBA.
	Rounds int
	// Window is what is measured of each run, after WarmUp.
	Window, WarmUp time.Duration
	Commit, Linger time.Duration
	Partitions     int32
	Slots, Lanes   int
	// RoundTrip is added between a contender and the brokers.
	RoundTrip time.Duration
	// Rate is the highest rate the input is filled for, in records per second.
	Rate int
	// Out takes progress and the tables.
	Out io.Writer
}

// Entry is one contender of a table.
type Entry struct {
	Contender string
	Input     string // a kind of input
}

// run is one finished run.
type run struct {
	entry   Entry
	records int64
	window  time.Duration
	total   int64 // records committed in the whole run
	usage   Usage
}

func (r run) perSecond() float64 { return float64(r.records) / r.window.Seconds() }

// cpuPerMillion is in seconds.
func (r run) cpuPerMillion() float64 {
	return r.usage.CPU.Seconds() / float64(r.total) * 1e6
}

// Throughput runs every entry once a round, forwards and backwards in turn.
func Throughput(ctx context.Context, o Options, entries []Entry) (Table, error) {
	c, err := dial(o.Brokers)
	if err != nil {
		return Table{}, err
	}
	defer c.close()
	b := &throughput{Options: o, cluster: c, topics: map[string]string{}, id: fmt.Sprintf("bench-%d", time.Now().UnixNano())}
	if err := b.prepare(ctx, entries); err != nil {
		return Table{}, err
	}
	defer b.tidy(context.WithoutCancel(ctx))
	table := newTable(o, entries)
	for round := range o.Rounds {
		for i := range entries {
			e := entries[i]
			if round%2 == 1 {
				e = entries[len(entries)-1-i]
			}
			r, err := b.one(ctx, e, round)
			if err != nil {
				return table, fmt.Errorf("%s, round %d: %w", e.Contender, round+1, err)
			}
			table.add(round, r)
			fmt.Fprintf(o.Out, "round %d  %-13s %s\n", round+1, e.Contender, describe(r))
		}
	}
	return table, nil
}

type throughput struct {
	Options
	cluster *cluster
	topics  map[string]string // kind -> topic
	id      string
	runs    int
}

func (b *throughput) prepare(ctx context.Context, entries []Entry) error {
	n := int(float64(b.Rate) * (b.Window + b.WarmUp).Seconds() * 1.15)
	for _, in := range inputs() {
		wanted := false
		for _, e := range entries {
			wanted = wanted || e.Input == in.name
		}
		if !wanted {
			continue
		}
		topic := fmt.Sprintf("%s-in-%d", b.id, len(b.topics))
		if err := b.cluster.makeTopic(ctx, topic, b.Partitions); err != nil {
			return err
		}
		b.topics[in.name] = topic
		start := time.Now()
		if err := b.cluster.fill(ctx, topic, in, n); err != nil {
			return err
		}
		fmt.Fprintf(b.Out, "input %q: %d records in %v\n", in.name, n, time.Since(start).Round(time.Second))
	}
	return nil
}

func (b *throughput) tidy(ctx context.Context) {
	for _, topic := range b.topics {
		if err := b.cluster.dropTopics(ctx, topic); err != nil {
			fmt.Fprintf(b.Out, "topic %s is left: %v\n", topic, err)
		}
	}
}

// one runs a contender over a fresh output topic.
func (b *throughput) one(ctx context.Context, e Entry, round int) (run, error) {
	b.runs++
	s := Spec{
		Contender: e.Contender, Brokers: b.Brokers, In: b.topics[e.Input],
		Out: fmt.Sprintf("%s-out-%d", b.id, b.runs), Group: fmt.Sprintf("%s-%d-%d", b.id, round, b.runs),
		Commit: b.Commit, Linger: b.Linger, Slots: b.Slots, Lanes: b.Lanes,
	}
	if err := b.cluster.makeTopic(ctx, s.Out, b.Partitions); err != nil {
		return run{}, err
	}
	defer func() { _ = b.cluster.dropTopics(context.WithoutCancel(ctx), s.Out) }() // best effort
	proxied, closeProxy, err := delay(ctx, b.Brokers, b.RoundTrip)
	if err != nil {
		return run{}, err
	}
	defer closeProxy()
	s.Proxy = proxied
	c, err := start(ctx, b.Child, s)
	if err != nil {
		return run{}, err
	}
	r, err := b.measure(ctx, c, e, s)
	usage, stopped := c.stop()
	if err = errors.Join(err, stopped); err != nil {
		return run{}, err
	}
	r.usage = usage
	r.total, err = b.cluster.committed(ctx, s.Group, s.In)
	return r, err
}

// measure waits for the first commit, lets the contender warm up, and counts
// over the window.
func (b *throughput) measure(ctx context.Context, c *child, e Entry, s Spec) (run, error) {
	if err := b.await(ctx, c, s); err != nil {
		return run{}, err
	}
	if err := sleep(ctx, b.WarmUp); err != nil {
		return run{}, err
	}
	before, err := b.cluster.committed(ctx, s.Group, s.In)
	if err != nil {
		return run{}, err
	}
	from := time.Now()
	if err := sleep(ctx, b.Window); err != nil {
		return run{}, err
	}
	after, err := b.cluster.committed(ctx, s.Group, s.In)
	if err != nil {
		return run{}, err
	}
	window := time.Since(from)
	if end := int64(float64(b.Rate) * (b.Window + b.WarmUp).Seconds() * 1.15); after >= end {
		return run{}, fmt.Errorf("the input of %d records ran dry: raise the fill rate", end)
	}
	return run{entry: e, records: after - before, window: window}, c.failed()
}

// firstCommit bounds the wait for a contender's first commit.
const firstCommit = 30 * time.Second

func (b *throughput) await(ctx context.Context, c *child, s Spec) error {
	ctx, cancel := context.WithTimeout(ctx, firstCommit)
	defer cancel()
	for {
		n, err := b.cluster.committed(ctx, s.Group, s.In)
		if err == nil && n > 0 {
			return nil
		}
		if failed := c.failed(); failed != nil {
			return failed
		}
		if sleep(ctx, 50*time.Millisecond) != nil {
			return errors.Join(errors.New("no commit in time"), err)
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
