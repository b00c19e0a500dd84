package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"github.com/weirstream/weir/internal/bench"
)

const benchHelp = `Measures the engine against the loop an expert writes by hand with franz-go's
GroupTransactSession, on a real broker. Every contender runs as a process of its
own; contenders run in turn, forwards and backwards, and what is compared is the
ratio within a round. Nothing else should run on the machine meanwhile.`

func benchCommand() *ffcli.Command {
	return &ffcli.Command{
		Name: "bench", ShortUsage: "weir bench <command> [flags]",
		ShortHelp:   "measure throughput and latency against a hand-written loop",
		LongHelp:    benchHelp,
		Subcommands: []*ffcli.Command{benchCopyCommand(), benchLatencyCommand(), benchChildCommand()},
	}
}

// benchFlags are common to the measurements.
func benchFlags(name string) (*flag.FlagSet, *bench.Options, *[]string) {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	o := &bench.Options{Child: []string{"bench", "child"}, Out: os.Stdout}
	set.DurationVar(&o.Window, "window", 20*time.Second, "`time` that is measured of each run")
	set.DurationVar(&o.WarmUp, "warm-up", 3*time.Second, "`time` before it")
	set.DurationVar(&o.RoundTrip, "round-trip", 0, "`time` added to every round trip between contender and broker")
	set.IntVar(&o.Slots, "slots", 0, "transactional producers of a lane; 0 is the engine's default")
	set.IntVar(&o.Lanes, "lanes", 0, "lanes of the engine; 0 is the engine's default")
	set.Func("partitions", "`number` of partitions of each topic (default 8)", func(v string) error {
		_, err := fmt.Sscan(v, &o.Partitions)
		return err
	})
	o.Partitions = 8
	return set, o, brokersFlag(set)
}

func benchCopyCommand() *ffcli.Command {
	set, o, brokers := benchFlags("weir bench copy")
	set.IntVar(&o.Rounds, "rounds", 9, "runs of each contender")
	set.DurationVar(&o.Commit, "commit", 100*time.Millisecond, "commit interval")
	set.DurationVar(&o.Linger, "linger", 10*time.Millisecond, "producer linger of the hand-written loops")
	set.IntVar(&o.Rate, "fill-rate", 2_500_000, "records per second that the input is long enough for")
	only := set.String("only", "all", "`what` to compare: copy (loop, engine, engine without transactions), topology, json, or all")
	return &ffcli.Command{
		Name: "copy", ShortUsage: "weir bench copy --brokers host:port [flags]", FlagSet: set, Options: environment(),
		ShortHelp: "records per second, CPU and memory",
		LongHelp:  "Copies a topic as fast as it goes. Counted are committed offsets, not polled records.",
		Exec: func(ctx context.Context, _ []string) error {
			o.Brokers = *brokers
			return benchCopy(ctx, *o, *only)
		},
	}
}

// comparison is one ratio of the copy table.
type comparison struct{ a, b string }

func benchCopy(ctx context.Context, o bench.Options, only string) error {
	groups := map[string][]bench.Entry{
		"copy":     {{Contender: "loop", Input: "100 bytes"}, {Contender: "engine", Input: "100 bytes"}, {Contender: "engine plain", Input: "100 bytes"}},
		"topology": {{Contender: "bytes", Input: "int64"}, {Contender: "five", Input: "int64"}},
		"json":     {{Contender: "json loop", Input: "json"}, {Contender: "json", Input: "json"}},
	}
	compare := map[string][]comparison{
		"copy": {{"engine", "loop"}, {"engine", "engine plain"}}, "topology": {{"five", "bytes"}}, "json": {{"json", "json loop"}},
	}
	var entries []bench.Entry
	var pairs []comparison
	for _, name := range []string{"copy", "topology", "json"} {
		if only == name || only == "all" {
			entries, pairs = append(entries, groups[name]...), append(pairs, compare[name]...)
		}
	}
	if len(entries) == 0 {
		return usagef("--only %q: copy, topology, json or all", only)
	}
	table, err := bench.Throughput(ctx, o, entries)
	if err != nil {
		return err
	}
	var ratios []bench.Ratio
	for _, p := range pairs {
		ratios = append(ratios, table.Ratio(p.a, p.b))
	}
	return table.Write(os.Stdout, ratios...)
}

func benchLatencyCommand() *ffcli.Command {
	set, o, brokers := benchFlags("weir bench latency")
	set.IntVar(&o.Rounds, "rounds", 9, "runs of each contender")
	set.DurationVar(&o.Commit, "commit", 10*time.Millisecond, "commit interval")
	set.DurationVar(&o.Linger, "linger", 0, "producer linger of the hand-written loops")
	rate := set.Int("rate", 5000, "records per second")
	return &ffcli.Command{
		Name: "latency", ShortUsage: "weir bench latency --brokers host:port [flags]", FlagSet: set, Options: environment(),
		ShortHelp: "time from producer to a read_committed reader",
		LongHelp:  "Times every record from the stamp its producer gave it to its arrival at a\nread_committed reader, while the contender copies it.",
		Exec: func(ctx context.Context, _ []string) error {
			o.Brokers = *brokers
			table, err := bench.Latency(ctx, *o, *rate, []string{"loop", "engine"})
			if err != nil {
				return err
			}
			p50, p99 := table.Ratios("engine", "loop")
			return table.Write(os.Stdout, p50, p99)
		},
	}
}

// benchChildCommand is a contender's process; it reads its task from standard
// input.
func benchChildCommand() *ffcli.Command {
	return &ffcli.Command{
		Name: "child", ShortUsage: "weir bench child", ShortHelp: "a contender, started by the others",
		FlagSet: flag.NewFlagSet("weir bench child", flag.ContinueOnError),
		Exec:    func(ctx context.Context, _ []string) error { return bench.RunChild(ctx, os.Stdin) },
	}
}
