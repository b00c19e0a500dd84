package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"github.com/weirstream/weir/internal/committed"
	"github.com/weirstream/weir/internal/dlq"
)

func dlqCommand() *ffcli.Command {
	return &ffcli.Command{
		Name: "dlq", ShortUsage: "weir dlq <command> --topic TOPIC [flags]",
		ShortHelp: "read dead letters and send them again",
		LongHelp: "A dead letter is a record that an application could not process: the original,\n" +
			"with headers that say where it came from and why it failed. Applications write\n" +
			"them to <application.id>-dlq with --on-process-error dead-letter and the like.",
		Subcommands: []*ffcli.Command{dlqListCommand(), dlqShowCommand(), dlqReplayCommand()},
	}
}

// dlqFlags are those that every command of dlq takes.
type dlqFlags struct {
	set     *flag.FlagSet
	brokers *[]string
	timeout *time.Duration
	topic   *string
}

func newDLQFlags(name string) dlqFlags {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	return dlqFlags{
		set: set, brokers: brokersFlag(set), timeout: timeoutFlag(set),
		topic: set.String("topic", "", "`topic` of dead letters; required"),
	}
}

// open checks the arguments, which are names, and returns the topic.
func (f dlqFlags) open(args []string, names ...string) (*dlq.Book, []string, error) {
	found, err := arguments(f.set, args, names...)
	if err != nil {
		return nil, nil, err
	}
	if *f.topic == "" {
		return nil, nil, usagef("--topic is missing; see --help")
	}
	return dlq.Open(committed.New(*f.brokers, *f.timeout), *f.topic), found, nil
}

// selectionFlags adds the flags that choose letters.
func selectionFlags(set *flag.FlagSet) *dlq.Selection {
	s := &dlq.Selection{Partition: -1}
	number := func(name, usage string, bits int, put func(int64)) {
		set.Func(name, usage, func(v string) error {
			n, err := strconv.ParseInt(v, 10, bits)
			if err != nil || n < 0 {
				return errors.New("must be a number, at least 0")
			}
			put(n)
			return nil
		})
	}
	number("partition", "only this `partition` of the dead letter topic", 32, func(n int64) { s.Partition = int32(n) })
	number("from", "only from this `offset` of the dead letter topic on", 64, func(n int64) { s.From = n })
	number("to", "only before this `offset` of the dead letter topic", 64, func(n int64) { s.To = n })
	set.StringVar(&s.Origin, "origin", "", "only records that came from this `topic`")
	set.Func("phase", "only records that failed in this `phase`: decode, process or produce", func(v string) error {
		if v != "decode" && v != "process" && v != "produce" {
			return errors.New("must be decode, process or produce")
		}
		s.Phase = v
		return nil
	})
	set.BoolVar(&s.Pending, "pending", false, "only letters that were not replayed yet")
	return s
}

func dlqListCommand() *ffcli.Command {
	f := newDLQFlags("list")
	s := selectionFlags(f.set)
	return &ffcli.Command{
		Name: "list", ShortUsage: "weir dlq list --topic TOPIC [flags]", FlagSet: f.set, Options: environment(),
		ShortHelp: "list dead letters, a line each",
		LongHelp: "Lists the committed dead letters: LETTER is the partition/offset that show takes,\n" +
			"ORIGIN the record that failed. Without flags that choose, all of them.",
		Exec: func(ctx context.Context, args []string) error {
			book, _, err := f.open(args)
			if err != nil {
				return err
			}
			entries, err := book.List(ctx, *s)
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', 0)
			fmt.Fprintln(w, "LETTER\tORIGIN\tPHASE\tOPERATOR\tKEY\tREPLAYED\tERROR")
			for _, e := range entries {
				if e.Bad != nil {
					fmt.Fprintf(w, "%s\t-\t-\t-\t%s\t-\t%s\n", e.Position(), brief(e.Record.Key), e.Bad)
					continue
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", e.Position(), e.Origin(), e.Letter.Phase, e.Letter.Operator,
					brief(e.Record.Key), moment(e.Replayed), strings.ReplaceAll(e.Letter.Error, "\n", `\n`))
			}
			return w.Flush()
		},
	}
}

func dlqShowCommand() *ffcli.Command {
	f := newDLQFlags("show")
	return &ffcli.Command{
		Name: "show", ShortUsage: "weir dlq show PARTITION/OFFSET --topic TOPIC [flags]", FlagSet: f.set, Options: environment(),
		ShortHelp: "show everything of one dead letter",
		LongHelp: "Shows one dead letter: where it came from, why it failed, its key, value and\n" +
			"headers. PARTITION/OFFSET is its place in the dead letter topic, as list prints it.",
		Exec: func(ctx context.Context, args []string) error {
			book, found, err := f.open(args, "PARTITION/OFFSET")
			if err != nil {
				return err
			}
			p, o, ok := strings.Cut(found[0], "/")
			partition, perr := strconv.ParseInt(p, 10, 32)
			offset, oerr := strconv.ParseInt(o, 10, 64)
			if !ok || perr != nil || oerr != nil || partition < 0 || offset < 0 || offset == math.MaxInt64 {
				return usagef("%q is not PARTITION/OFFSET, such as 0/42", found[0])
			}
			e, err := book.Get(ctx, int32(partition), offset)
			if err != nil {
				return err
			}
			showLetter(os.Stdout, e)
			return nil
		},
	}
}

// moment is a time, or - for none.
func moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}
