package bench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/twmb/franz-go/pkg/kgo"
)

// latencyRun is one finished run.
type latencyRun struct {
	p50, p90, p99 time.Duration
	received      int64
	offered       int64
	usage         Usage
}

// LatencyTable holds the runs of each contender, by round.
type LatencyTable struct {
	options    Options
	perSecond  int
	contenders []string
	runs       map[string][]latencyRun
}

// Latency runs every contender once a round at perSecond records per second,
// forwards and backwards in turn. Each run has topics of its own.
func Latency(ctx context.Context, o Options, perSecond int, names []string) (LatencyTable, error) {
	t := LatencyTable{options: o, perSecond: perSecond, contenders: names, runs: map[string][]latencyRun{}}
	c, err := dial(o.Brokers)
	if err != nil {
		return t, err
	}
	defer c.close()
	id := fmt.Sprintf("bench-%d", time.Now().UnixNano())
	for round := range o.Rounds {
		for i := range names {
			name := names[i]
			if round%2 == 1 {
				name = names[len(names)-1-i]
			}
			l := latency{Options: o, cluster: c, perSecond: perSecond, name: fmt.Sprintf("%s-%d-%d", id, round, i)}
			r, err := l.run(ctx, name)
			if err != nil {
				return t, fmt.Errorf("%s, round %d: %w", name, round+1, err)
			}
			t.runs[name] = append(t.runs[name], r)
			fmt.Fprintf(o.Out, "round %d  %-13s p50 %v  p90 %v  p99 %v  (%d of %d records)\n", round+1, name,
				r.p50.Round(100*time.Microsecond), r.p90.Round(100*time.Microsecond), r.p99.Round(100*time.Microsecond), r.received, r.offered)
		}
	}
	return t, nil
}

type latency struct {
	Options
	cluster   *cluster
	perSecond int
	name      string
}

func (l *latency) run(ctx context.Context, contender string) (latencyRun, error) {
	in, out := l.name+"-in", l.name+"-out"
	for _, topic := range []string{in, out} {
		if err := l.cluster.makeTopic(ctx, topic, l.Partitions); err != nil {
			return latencyRun{}, err
		}
	}
	defer func() { _ = l.cluster.dropTopics(context.WithoutCancel(ctx), in, out) }() // best effort
	proxied, closeProxy, err := delay(ctx, l.Brokers, l.RoundTrip)
	if err != nil {
		return latencyRun{}, err
	}
	defer closeProxy()
	c, err := start(ctx, l.Child, Spec{
		Contender: contender, Brokers: l.Brokers, In: in, Out: out, Group: l.name,
		Commit: l.Commit, Linger: l.Linger, Slots: l.Slots, Lanes: l.Lanes, Proxy: proxied,
	})
	if err != nil {
		return latencyRun{}, err
	}
	r, err := l.measure(ctx, c, in, out)
	usage, stopped := c.stop()
	r.usage = usage
	return r, errors.Join(err, stopped)
}

// measure feeds the input at the pace, and times the output once the warm-up
// is over.
func (l *latency) measure(ctx context.Context, c *child, in, out string) (latencyRun, error) {
	ctx, cancel := context.WithTimeout(ctx, firstCommit+l.WarmUp+l.Window)
	defer cancel()
	reader, err := kgo.NewClient(kgo.SeedBrokers(l.Brokers...), kgo.ConsumeTopics(out),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return latencyRun{}, err
	}
	defer reader.Close()
	fed := make(chan error, 1)
	feeding, stopFeeding := context.WithCancel(ctx)
	var offered int64
	go func() { fed <- l.feed(feeding, in, &offered) }()
	r, err := l.listen(ctx, reader)
	stopFeeding()
	err = errors.Join(err, <-fed, c.failed())
	r.offered = offered
	return r, err
}

// highest is the largest latency the histogram holds apart.
const highest = time.Minute

func (l *latency) listen(ctx context.Context, reader *kgo.Client) (latencyRun, error) {
	h := hdrhistogram.New(1, highest.Microseconds(), 3)
	var from, until time.Time
	for until.IsZero() || time.Now().Before(until) {
		fetches := reader.PollFetches(ctx)
		if err := ctx.Err(); err != nil {
			return latencyRun{}, errors.New("no output in time")
		}
		now := time.Now()
		if until.IsZero() && fetches.NumRecords() > 0 {
			from = now.Add(l.WarmUp)
			until = from.Add(l.Window)
		}
		if now.Before(from) {
			continue
		}
		var failed error
		fetches.EachRecord(func(r *kgo.Record) {
			sent := time.Unix(0, int64(binary.BigEndian.Uint64(r.Value)))
			failed = errors.Join(failed, h.RecordValue(max(1, now.Sub(sent).Microseconds())))
		})
		if failed != nil {
			return latencyRun{}, failed
		}
	}
	at := func(q float64) time.Duration { return time.Duration(h.ValueAtQuantile(q)) * time.Microsecond }
	return latencyRun{p50: at(50), p90: at(90), p99: at(99), received: h.TotalCount()}, nil
}

// feedTick is how often the producer sends its share.
const feedTick = 2 * time.Millisecond

// feed sends records at the pace until ctx ends; the value begins with the time
// of sending. What a late tick missed is sent with the next one.
func (l *latency) feed(ctx context.Context, in string, offered *int64) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(l.Brokers...), kgo.ProducerLinger(0))
	if err != nil {
		return err
	}
	defer client.Close()
	background := context.WithoutCancel(ctx)
	first := kgo.AbortingFirstErrPromise(client)
	start, sent := time.Now(), int64(0)
	tick := time.NewTicker(feedTick)
	defer tick.Stop()
	for ctx.Err() == nil {
		<-tick.C
		for due := int64(time.Since(start).Seconds() * float64(l.perSecond)); sent < due; sent++ {
			v := make([]byte, 100)
			at := start.Add(time.Duration(float64(sent) / float64(l.perSecond) * float64(time.Second)))
			binary.BigEndian.PutUint64(v, uint64(at.UnixNano())) // when it was due: a late producer must not hide it
			key := binary.BigEndian.AppendUint64(nil, uint64(sent)*0x9e3779b97f4a7c15)
			client.Produce(background, &kgo.Record{Topic: in, Key: key, Value: v}, first.Promise())
		}
	}
	*offered = sent
	return errors.Join(client.Flush(background), first.Err())
}

// Ratios compares two contenders round by round, at the median and at the 99th
// percentile.
func (t LatencyTable) Ratios(a, b string) (p50, p99 Ratio) {
	p50, p99 = Ratio{A: a + " p50", B: b + " p50"}, Ratio{A: a + " p99", B: b + " p99"}
	for i := range min(len(t.runs[a]), len(t.runs[b])) {
		p50.each = append(p50.each, float64(t.runs[a][i].p50)/float64(t.runs[b][i].p50))
		p99.each = append(p99.each, float64(t.runs[a][i].p99)/float64(t.runs[b][i].p99))
	}
	return p50, p99
}

// Write prints the conditions, a line for each contender, and the ratios.
func (t LatencyTable) Write(w io.Writer, ratios ...Ratio) error {
	o := t.options
	fmt.Fprintf(w, "\n%s %s/%s, %d CPUs shared with the broker, the producer and the reader; %d records/s of 100 bytes; window %v after %v, %d rounds in turn; commit interval %v; %d partitions; round trip %v added between contender and broker\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), t.perSecond, o.Window, o.WarmUp, o.Rounds, o.Commit, o.Partitions, o.RoundTrip)
	fmt.Fprintf(w, "all: no compression, FetchMaxBytes %d; loops: %s, linger %v; engine: slots %d, lanes %d (0: default)\n\n", fetchMaxBytes, loopOptions, o.Linger, o.Slots, o.Lanes)
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "contender\tp50 ms median\tp90 ms\tp99 ms\tCPU s\tpeak MiB")
	for _, name := range t.contenders {
		var p50, p90, p99, cpu, peak []float64
		for _, r := range t.runs[name] {
			p50, p90, p99 = append(p50, r.p50.Seconds()*1e3), append(p90, r.p90.Seconds()*1e3), append(p99, r.p99.Seconds()*1e3)
			cpu, peak = append(cpu, r.usage.CPU.Seconds()), append(peak, float64(r.usage.PeakBytes>>20))
		}
		m := func(v []float64) float64 { return quantile(v, 0.5) }
		fmt.Fprintf(tw, "%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.0f\n", name, m(p50), m(p90), m(p99), m(cpu), m(peak))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, r := range ratios {
		fmt.Fprintln(w, r)
	}
	return nil
}
