package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"github.com/weirstream/weir/internal/devcluster"
)

const devHelp = `Runs an emulation of one Kafka 3.9 broker in this process until it is stopped, so
that a first evening needs nothing but Go. It is not proof of anything: nothing is
replicated, and transactions end more simply than on a real broker. Run what
matters on Kafka itself.

A first evening, in three terminals:
  weir dev
  go run ./examples/hello --brokers 127.0.0.1:9092
  echo to be or not to be | weir dev produce lines
  weir dev consume words`

func devCommand() *ffcli.Command {
	set := flag.NewFlagSet("dev", flag.ContinueOnError)
	opts := devcluster.Options{Topics: map[string]int32{}}
	set.IntVar(&opts.Port, "port", 9092, "`port` to listen on at 127.0.0.1; 0 takes a free one")
	set.StringVar(&opts.DataDir, "data-dir", "", "`folder` that keeps the records between runs; default: they end with the process")
	set.Func("topic", "`name:partitions` of a topic to have; repeatable (default lines:1 and words:1, as examples/hello wants)", func(v string) error {
		return addTopic(opts.Topics, v)
	})
	return &ffcli.Command{
		Name: "dev", ShortUsage: "weir dev [flags]\n       weir dev <command> [flags]", FlagSet: set, Options: environment(),
		ShortHelp: "an embedded Kafka to try things on, and verbs to fill and read it",
		LongHelp:  devHelp,
		Subcommands: []*ffcli.Command{
			devCreateCommand(), devProduceCommand(), devConsumeCommand(),
		},
		Exec: func(ctx context.Context, args []string) error {
			if len(args) > 0 {
				return usagef("%q is no command of dev: create, produce, consume; see weir dev --help", args[0])
			}
			if opts.Port < 0 || opts.Port > 65535 {
				return usagef("port %d: must be 0 to 65535", opts.Port)
			}
			if len(opts.Topics) == 0 {
				opts.Topics = map[string]int32{"lines": 1, "words": 1}
			}
			return serveDev(ctx, os.Stdout, opts)
		},
	}
}

func addTopic(topics map[string]int32, v string) error {
	name, count, ok := strings.Cut(v, ":")
	n, err := strconv.ParseInt(count, 10, 32)
	if !ok || name == "" || err != nil || n < 1 {
		return fmt.Errorf("%q is not name:partitions with at least 1 partition", v)
	}
	topics[name] = int32(n)
	return nil
}

// serveDev runs the cluster until ctx ends.
func serveDev(ctx context.Context, out io.Writer, opts devcluster.Options) error {
	cluster, err := devcluster.Start(opts)
	if err != nil {
		return fmt.Errorf("%s; choose another port with --port, or stop what listens there", strings.TrimPrefix(err.Error(), "devcluster: "))
	}
	defer cluster.Close()
	at := strings.Join(cluster.Brokers(), ",")
	kept := "records end with this process"
	if opts.DataDir != "" {
		kept = "records are kept in " + opts.DataDir
	}
	var topics []string
	for _, name := range slices.Sorted(maps.Keys(opts.Topics)) {
		topics = append(topics, fmt.Sprintf("%s:%d", name, opts.Topics[name]))
	}
	fmt.Fprintf(out, `Kafka 3.9 at %[1]s; not proof: an emulation; %[2]s
topics: %[3]s

In other terminals:
  go run ./examples/hello --brokers %[1]s
  echo to be or not to be | weir dev produce lines --brokers %[1]s
  weir dev consume words --brokers %[1]s
  weir dev create NAME --partitions N --brokers %[1]s
`, at, kept, strings.Join(topics, " "))
	<-ctx.Done()
	return nil
}
