package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/peterbourgon/ff/v3/ffcli"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/internal/committed"
)

// maxLine bounds a line of produce, as Kafka's default bounds a record.
const maxLine = 1 << 20

func devProduceCommand() *ffcli.Command {
	set := flag.NewFlagSet("produce", flag.ContinueOnError)
	brokers, timeout := brokersFlag(set), timeoutFlag(set)
	separator := set.String("key-separator", "", "`text` between key and value of a line; default: a line has no key")
	return &ffcli.Command{
		Name: "produce", ShortUsage: "weir dev produce TOPIC [flags] < lines", FlagSet: set, Options: environment(),
		ShortHelp: "write the lines of standard input to a topic",
		LongHelp: "Writes each line of standard input as a record, and ends when all are acknowledged.\n" +
			"Lines may hold at most 1 MiB.\n\n" +
			"  printf 'k1=one\\nk2=two\\n' | weir dev produce lines --key-separator =",
		Exec: func(ctx context.Context, args []string) error {
			topics, err := arguments(set, args, "TOPIC")
			if err != nil {
				return err
			}
			cluster := committed.New(*brokers, *timeout)
			if _, err := cluster.Topics(ctx, topics[0]); err != nil {
				return err
			}
			n, err := produceLines(ctx, cluster, topics[0], []byte(*separator), os.Stdin)
			if err != nil {
				return fmt.Errorf("after %d lines: %w", n, err)
			}
			fmt.Fprintf(os.Stdout, "wrote %d lines to %s\n", n, topics[0])
			return nil
		},
	}
}

// produceLines returns how many lines were acknowledged.
func produceLines(ctx context.Context, cluster *committed.Cluster, topic string, separator []byte, in io.Reader) (int, error) {
	client, err := cluster.Client(kgo.DefaultProduceTopic(topic))
	if err != nil {
		return 0, err
	}
	defer client.Close()
	failing, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	written := 0 // changed by promises only, which run one at a time; read after Flush
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for n := 1; failing.Err() == nil && lines.Scan(); n++ {
		r := &kgo.Record{Value: bytes.Clone(lines.Bytes())}
		if len(separator) > 0 {
			key, value, ok := bytes.Cut(r.Value, separator)
			if !ok {
				fail(fmt.Errorf("line %d has no key separator %q", n, separator))
				break
			}
			r.Key, r.Value = key, value
		}
		client.Produce(failing, r, func(_ *kgo.Record, err error) {
			if err != nil {
				fail(err)
				return
			}
			written++
		})
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		fail(fmt.Errorf("a line is longer than %d bytes", maxLine))
	} else if lines.Err() != nil {
		fail(lines.Err())
	}
	if err := client.Flush(ctx); err != nil {
		fail(err)
	}
	return written, context.Cause(failing)
}
