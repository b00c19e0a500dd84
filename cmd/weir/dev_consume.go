package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/peterbourgon/ff/v3/ffcli"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/internal/committed"
)

func devConsumeCommand() *ffcli.Command {
	set := flag.NewFlagSet("consume", flag.ContinueOnError)
	brokers, timeout := brokersFlag(set), timeoutFlag(set)
	separator := set.String("key-separator", "", "`text` to print between key and value; default: values only")
	follow := set.Bool("follow", false, "go on with new records until stopped")
	count := set.Int("count", 0, "wait for this `number` of records and end after them")
	return &ffcli.Command{
		Name: "consume", ShortUsage: "weir dev consume TOPIC [flags]", FlagSet: set, Options: environment(),
		ShortHelp: "print a topic, read_committed, from the beginning",
		LongHelp: "Prints the records of a topic from the oldest on, a line each, as a read_committed\n" +
			"consumer sees them: nothing of open or aborted transactions. It ends at the end of\n" +
			"the topic, unless --follow or --count say otherwise. It joins no group.",
		Exec: func(ctx context.Context, args []string) error {
			topics, err := arguments(set, args, "TOPIC")
			if err != nil {
				return err
			}
			if *count < 0 {
				return usagef("count %d: must not be negative", *count)
			}
			out := bufio.NewWriter(os.Stdout)
			left := *count
			show := func(r *kgo.Record) error {
				if *separator != "" {
					fmt.Fprintf(out, "%s%s", r.Key, *separator)
				}
				fmt.Fprintf(out, "%s\n", r.Value)
				if left--; left == 0 {
					return committed.ErrStop
				}
				if *follow || *count > 0 {
					return out.Flush()
				}
				return nil
			}
			cluster := committed.New(*brokers, *timeout)
			if *follow || *count > 0 {
				err = cluster.Follow(ctx, topics[0], show)
			} else {
				err = readAll(ctx, cluster, topics[0], show)
			}
			if err == nil && *count > 0 && left > 0 {
				err = fmt.Errorf("stopped after %d of %d records", *count-left, *count)
			}
			return errors.Join(out.Flush(), err)
		},
	}
}

// readAll shows what topic holds now.
func readAll(ctx context.Context, cluster *committed.Cluster, topic string, show func(*kgo.Record) error) error {
	ranges, err := cluster.Ranges(ctx, topic)
	if err != nil {
		return err
	}
	return cluster.Read(ctx, topic, ranges, show)
}
