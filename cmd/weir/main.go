// Weir is the tool around the library: a cluster for a first evening, and what an
// operator does beside a running application. Run weir --help.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/peterbourgon/ff/v3/ffcli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	context.AfterFunc(ctx, stop) // the default action is back for the second signal
	os.Exit(run(ctx, os.Args[1:]))
}

// rootCommand is the whole program.
func rootCommand() *ffcli.Command {
	return &ffcli.Command{
		Name:       "weir",
		ShortUsage: "weir <command> [flags]",
		LongHelp: "Exactly-once stream processing on Kafka: the tool beside the library.\n" +
			"Exit code 0: done. 1: it failed, with one line on standard error that says why.\n" +
			"2: bad usage.",
		Subcommands: []*ffcli.Command{
			devCommand(), dlqCommand(), benchCommand(),
			demoCommand(),
		},
	}
}

// run parses and executes args and returns the exit code.
func run(ctx context.Context, args []string) int {
	root, help := rootCommand(), ""
	prepare(root, &help)
	err := root.Parse(args)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		err = &usageError{err}
	}
	if err == nil {
		err = root.Run(ctx)
	}
	var group ffcli.NoExecError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, flag.ErrHelp):
		fmt.Println(strings.TrimSpace(help))
		return 0
	case errors.As(err, &group):
		err = usagef("%s", missing(group.Command))
	}
	fmt.Fprintln(os.Stderr, "weir: "+strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "))
	if errors.As(err, new(*usageError)) {
		return 2
	}
	return 1
}

// prepare makes parse errors one line of run's, and keeps the last help text
// that was asked for.
func prepare(c *ffcli.Command, help *string) {
	if c.FlagSet == nil {
		c.FlagSet = flag.NewFlagSet(c.Name, flag.ContinueOnError)
	}
	c.FlagSet.Init(c.Name, flag.ContinueOnError)
	c.FlagSet.SetOutput(io.Discard)
	c.UsageFunc = func(c *ffcli.Command) string {
		*help = helpText(c)
		return *help
	}
	for _, sub := range c.Subcommands {
		prepare(sub, help)
	}
}

// missing says which commands a group has when none of them was named.
func missing(c *ffcli.Command) string {
	var names []string
	for _, sub := range c.Subcommands {
		names = append(names, sub.Name)
	}
	what := "name a command"
	if arg := c.FlagSet.Arg(0); arg != "" {
		what = fmt.Sprintf("%q is no command of %s", arg, c.Name)
	}
	return fmt.Sprintf("%s: %s; see %s --help", what, strings.Join(names, ", "), strings.Split(c.ShortUsage, " <")[0])
}
