package bench

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"text/tabwriter"
)

// Table holds the runs of every contender, by round.
type Table struct {
	options Options
	entries []Entry
	runs    map[string][]run
}

func newTable(o Options, entries []Entry) Table {
	return Table{options: o, entries: entries, runs: map[string][]run{}}
}

func (t Table) add(_ int, r run) {
	t.runs[r.entry.Contender] = append(t.runs[r.entry.Contender], r)
}

// Ratio is a/b of the runs of one round, over all rounds.
type Ratio struct {
	A, B string
	each []float64
}

// Ratio compares two contenders' records per second, round by round.
func (t Table) Ratio(a, b string) Ratio {
	r := Ratio{A: a, B: b}
	for i := range min(len(t.runs[a]), len(t.runs[b])) {
		r.each = append(r.each, t.runs[a][i].perSecond()/t.runs[b][i].perSecond())
	}
	return r
}

// String prints the median, the lower quartile and every round.
func (r Ratio) String() string {
	return fmt.Sprintf("%s / %s: median %.2f, lower quartile %.2f, rounds %.2f", r.A, r.B, quantile(r.each, 0.5), quantile(r.each, 0.25), r.each)
}

// quantile interpolates between the sorted values; 0 of none is 0.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(values))
	at := q * float64(len(s)-1)
	i := int(at)
	if i == len(s)-1 {
		return s[i]
	}
	return s[i] + (at-float64(i))*(s[i+1]-s[i])
}

func describe(r run) string {
	return fmt.Sprintf("%8.0f records/s  %5.2f CPU s per million  %4d MiB peak", r.perSecond(), r.cpuPerMillion(), r.usage.PeakBytes>>20)
}

// Write prints the conditions, a line for each contender, and the ratios.
func (t Table) Write(w io.Writer, ratios ...Ratio) error {
	o := t.options
	fmt.Fprintf(w, "\n%s %s/%s, %d CPUs shared with the broker; window %v after %v, %d rounds in turn; commit interval %v; %d partitions; round trip %v added\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), o.Window, o.WarmUp, o.Rounds, o.Commit, o.Partitions, o.RoundTrip)
	fmt.Fprintf(w, "all: no compression, FetchMaxBytes %d; loops: %s, linger %v; engine: slots %d, lanes %d (0: default)\n\n", fetchMaxBytes, loopOptions, o.Linger, o.Slots, o.Lanes)
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "contender\tinput\trecords/s median\tmin\tmax\tCPU s per million\tpeak MiB")
	for _, e := range t.entries {
		var rate, cpu, peak []float64
		for _, r := range t.runs[e.Contender] {
			rate, cpu, peak = append(rate, r.perSecond()), append(cpu, r.cpuPerMillion()), append(peak, float64(r.usage.PeakBytes>>20))
		}
		fmt.Fprintf(tw, "%s\t%s\t%.0f\t%.0f\t%.0f\t%.2f\t%.0f\n", e.Contender, e.Input,
			quantile(rate, 0.5), quantile(rate, 0), quantile(rate, 1), quantile(cpu, 0.5), quantile(peak, 0.5))
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
