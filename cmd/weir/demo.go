package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"github.com/weirstream/weir/internal/demo"
)

const demoHelp = `Shows what a crash does. Worker processes turn orders into bills and are killed with
SIGKILL at random moments while records flow; most are started again, and where one
is not, others take over. A plain consume, produce, commit loop gets the same orders
and is killed at the same moments. At the end the bills of both are counted by a
read_committed reader.

Exit code 0: weir lost, doubled and reordered nothing, and the plain loop doubled
something. 1: otherwise.`

func demoCommand() *ffcli.Command {
	set := flag.NewFlagSet("demo", flag.ContinueOnError)
	opts := demo.Defaults()
	set.Func("kafka", "`host:port,...` of a cluster to use; default: an imitation in this process", func(v string) error {
		opts.Brokers = strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })
		if len(opts.Brokers) == 0 {
			return fmt.Errorf("no address in %q", v)
		}
		return nil
	})
	set.BoolVar(&opts.Keep, "keep", false, "leave the topics; the embedded cluster then runs until Ctrl-C")
	set.Uint64Var(&opts.Seed, "seed", 0, "`number` that decides who is killed when; default: a random one, printed")
	set.IntVar(&opts.Seconds, "seconds", opts.Seconds, "for how many `seconds` records flow, at least 8")
	set.IntVar(&opts.Rate, "rate", opts.Rate, "input `records` per second")
	return &ffcli.Command{
		Name: "demo", ShortUsage: "weir demo [flags]", FlagSet: set, Options: environment(),
		ShortHelp: "kill workers while records flow, and count duplicates and losses",
		LongHelp:  demoHelp,
		Exec: func(ctx context.Context, args []string) error {
			if demo.WorkerRequested() {
				return demo.RunWorker(ctx)
			}
			if len(args) > 0 {
				return usagef("unexpected argument %q; see --help", args[0])
			}
			return runDemo(ctx, opts)
		},
	}
}

func runDemo(ctx context.Context, opts demo.Options) error {
	if err := opts.Check(); err != nil {
		return &usageError{err}
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("this program cannot find its own file to start workers: %w", err)
	}
	opts.Command, opts.Out = []string{self, "demo"}, os.Stdout
	if opts.Seed == 0 {
		opts.Seed = 1 + rand.Uint64N(1_000_000)
	}
	report, err := demo.Run(ctx, opts)
	if err != nil {
		return err
	}
	return report.Verdict()
}
