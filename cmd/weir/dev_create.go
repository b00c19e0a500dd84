package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/weirstream/weir/internal/committed"
)

func devCreateCommand() *ffcli.Command {
	set := flag.NewFlagSet("create", flag.ContinueOnError)
	brokers, timeout := brokersFlag(set), timeoutFlag(set)
	partitions := set.Int("partitions", 1, "`number` of partitions")
	return &ffcli.Command{
		Name: "create", ShortUsage: "weir dev create NAME [flags]", FlagSet: set, Options: environment(),
		ShortHelp: "create a topic",
		LongHelp:  "Creates a topic, with the replication factor that is the broker's default.",
		Exec: func(ctx context.Context, args []string) error {
			names, err := arguments(set, args, "NAME")
			if err != nil {
				return err
			}
			if *partitions < 1 || *partitions > 10_000 {
				return usagef("%d partitions: must be 1 to 10000", *partitions)
			}
			cluster := committed.New(*brokers, *timeout)
			err = cluster.Admin(ctx, func(ctx context.Context, adm *kadm.Client) error {
				_, err := adm.CreateTopic(ctx, int32(*partitions), -1, nil, names[0])
				return err
			})
			switch {
			case errors.Is(err, kerr.TopicAlreadyExists):
				return fmt.Errorf("topic %s exists already at %s", names[0], cluster)
			case err != nil:
				return cluster.Explain("topic "+names[0]+" cannot be created", err)
			}
			fmt.Fprintf(os.Stdout, "created %s with %d partitions\n", names[0], *partitions)
			return nil
		},
	}
}

// timeoutFlag adds --timeout to set.
func timeoutFlag(set *flag.FlagSet) *time.Duration {
	timeout := 10 * time.Second
	set.Func("timeout", "give up on an answer of the brokers after this `time` (default 10s)", func(v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d <= 0 {
			return errors.New("must be a positive time such as 10s")
		}
		timeout = d
		return nil
	})
	return &timeout
}
