package demo

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// lineEvery is how often the progress is a line of its own where it cannot be
// written over.
const lineEvery = 4 * time.Second

// progress prints what a user sees while the demo runs. On a terminal the line
// with the numbers is written over; elsewhere it is repeated now and then.
type progress struct {
	out      io.Writer
	terminal bool
	open     bool // the numbers stand on the last line
	last     time.Duration
}

func newProgress(out io.Writer) progress {
	f, ok := out.(*os.File)
	if ok {
		info, err := f.Stat()
		ok = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return progress{out: out, terminal: ok, last: -lineEvery}
}

// line prints a line.
func (p *progress) line(format string, args ...any) {
	if p.open {
		fmt.Fprintln(p.out)
		p.open = false
	}
	fmt.Fprintf(p.out, format+"\n", args...)
}

// head says what is going to happen.
func (p *progress) head(r *run) {
	at := strings.Join(r.cluster.brokers, ",")
	if r.cluster.fake != nil {
		p.line("Kafka: an imitation in this process at %s, which proves little; --kafka HOST:PORT takes a real one", at)
	} else {
		p.line("Kafka: %s, topics %s*", at, r.names.weirGroup)
	}
	p.line("seed %d: %d records/s for %d s; %d weir workers and %d plain ones, all processes; session time-out %v",
		r.opts.Seed, r.opts.Rate, r.opts.Seconds, r.opts.Workers, r.opts.Workers, r.session)
}

// killed tells of a kill.
func (p *progress) killed(k kill, weir, plain int) {
	then := fmt.Sprintf("back in %v", k.back.Round(time.Millisecond))
	if k.back == 0 {
		then = "for good: the others take over"
	}
	p.line("%5.1fs  SIGKILL worker-%d of both (pid %d and %d), %s", k.at.Seconds(), k.worker, weir, plain, then)
}

// flow shows the numbers.
func (p *progress) flow(at time.Duration, written, weir, plain, kills int) {
	text := fmt.Sprintf("%5.1fs  written %d, committed by weir %d, by the plain loop %d; %d kills", at.Seconds(), written, weir, plain, kills)
	if p.terminal {
		fmt.Fprintf(p.out, "\r%-78s", text)
		p.open = true
		return
	}
	if at-p.last >= lineEvery {
		p.last = at
		fmt.Fprintln(p.out, text)
	}
}
