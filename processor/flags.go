package processor

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/topology"
)

// flags put command line and environment over the options of the code.
type flags struct {
	set               *flag.FlagSet
	out               io.Writer
	describe, mermaid bool
	logLevel          slog.Level
	logFormat         string
}

func newFlags(name string, c *config, out io.Writer) *flags {
	f := &flags{set: flag.NewFlagSet(name, flag.ContinueOnError), out: out, logFormat: "text"}
	s, e := f.set, &c.engine
	s.SetOutput(io.Discard) // run prints one line instead
	s.Func("brokers", "`host:port,...` of the first brokers to try", func(v string) error {
		e.Brokers = strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })
		return nil
	})
	s.BoolVar(&f.describe, "describe", false, "print the topology as text and exit")
	s.BoolVar(&f.mermaid, "mermaid", false, "print the topology as a Mermaid chart and exit")
	s.DurationVar(&e.CommitInterval, "commit-interval", orElse(e.CommitInterval, 100*time.Millisecond), "commit a transaction after this `time` at the latest")
	s.IntVar(&e.Lanes, "lanes", max(1, e.Lanes), "`number` of goroutines that process records")
	s.IntVar(&e.Slots, "slots", max(2, e.Slots), "`number` of transactional producers of a lane; 3 if brokers are milliseconds away")
	s.StringVar(&e.InstanceID, "instance-id", e.InstanceID, "`name` of this process for good (group.instance.id); default: host and a free number")
	s.StringVar(&e.StateDir, "state-dir", e.StateDir, "`folder` of the locks of instance ids; default: weir in the temporary folder")
	s.DurationVar(&e.StartTimeout, "start-timeout", e.StartTimeout, "give up reaching the brokers after this `time`")
	s.DurationVar(&e.SessionTimeout, "session-timeout", orElse(e.SessionTimeout, 10*time.Second), "a silent member loses its partitions after this `time`")
	s.Func("start", "`where` an application without any committed offset begins: earliest or latest (default earliest)",
		oneOf(&e.Start, map[string]eos.StartAt{"earliest": eos.Earliest, "latest": eos.Latest}))
	s.Func("lost-offsets", "`what` to do when records were deleted before they were processed: stop, or skip to the earliest left (default stop)",
		oneOf(&e.OnLostOffsets, map[string]eos.LostOffsets{"stop": eos.Stop, "skip": eos.SkipToEarliest}))
	s.StringVar(&c.httpAddr, "http", c.httpAddr, "`host:port` for /livez, /readyz, /metrics and /topology; default: none")
	s.StringVar(&c.deadLetter, "dead-letter-topic", c.deadLetter, "`topic` of dead letters")
	for phase := topology.PhaseDecode; phase <= topology.PhaseEffect; phase++ {
		s.Func(fmt.Sprintf("on-%v-error", phase),
			fmt.Sprintf("`policy` for records that fail in phase %v: fail, skip or dead-letter (default %v)", phase, c.policies[phase]),
			func(v string) error { return c.policies[phase].set(v) })
	}
	s.TextVar(&f.logLevel, "log-level", slog.LevelInfo, "least `level` to log: debug, info, warn or error")
	s.Func("log-format", "`format` of the log: text or json (default text)",
		oneOf(&f.logFormat, map[string]string{"text": "text", "json": "json"}))
	return f
}

// oneOf sets *to to the choice named by the flag.
func oneOf[T any](to *T, choices map[string]T) func(string) error {
	return func(v string) error {
		choice, ok := choices[v]
		if !ok {
			return fmt.Errorf("%q is none of %s", v, strings.Join(slices.Sorted(maps.Keys(choices)), ", "))
		}
		*to = choice
		return nil
	}
}

func orElse(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}

// set replaces p by the policy named v.
func (p *Policy) set(v string) error {
	for a, name := range actionNames {
		if v == name {
			*p = Policy{last: action(a)}
			return nil
		}
	}
	return fmt.Errorf("%q is none of fail, skip, dead-letter", v)
}

// help explains every flag with its environment variable.
func (f *flags) help() {
	fmt.Fprintf(f.out, "usage: %s --brokers host:port [flags]\n\nEvery flag can be set by an environment variable: --state-dir is WEIR_STATE_DIR.\nA flag wins over the variable, and both over the program.\n\n", f.set.Name())
	f.set.VisitAll(func(fl *flag.Flag) {
		what, usage := flag.UnquoteUsage(fl)
		line := "  --" + fl.Name
		if what != "" {
			line += " " + what
		}
		if fl.DefValue != "" && fl.DefValue != "false" {
			usage += " (default " + fl.DefValue + ")"
		}
		fmt.Fprintf(f.out, "%-36s %s\n", line, usage)
	})
}
