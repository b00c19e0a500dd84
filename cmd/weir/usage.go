package main

import (
	"flag"
	"fmt"
	"strings"

	"github.com/peterbourgon/ff/v3"
	"github.com/peterbourgon/ff/v3/ffcli"
)

// usageError is a fault in how a command was called: exit code 2.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// environment lets WEIR_BROKERS stand in for --brokers, and so on.
func environment() []ff.Option { return []ff.Option{ff.WithEnvVarPrefix("WEIR")} }

// arguments returns those of args that are no flags, of which there must be one
// for each of names. Flags may come after them.
func arguments(set *flag.FlagSet, args []string, names ...string) ([]string, error) {
	var found []string
	for len(args) > 0 {
		found = append(found, args[0])
		if err := set.Parse(args[1:]); err != nil {
			return nil, &usageError{err}
		}
		args = set.Args()
	}
	if len(found) > len(names) {
		return nil, usagef("unexpected argument %q; see --help", found[len(names)])
	}
	if len(found) < len(names) {
		return nil, usagef("%s is missing; see --help", names[len(found)])
	}
	return found, nil
}

// brokersFlag adds --brokers to set.
func brokersFlag(set *flag.FlagSet) *[]string {
	brokers := []string{"127.0.0.1:9092"}
	set.Func("brokers", "`host:port,...` of the first brokers to try (default 127.0.0.1:9092)", func(v string) error {
		brokers = strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })
		if len(brokers) == 0 {
			return fmt.Errorf("no address in %q", v)
		}
		return nil
	})
	return &brokers
}

// helpText explains a command, its subcommands and its flags.
func helpText(c *ffcli.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "usage: %s\n", c.ShortUsage)
	if c.LongHelp != "" {
		fmt.Fprintf(&b, "\n%s\n", c.LongHelp)
	}
	if len(c.Subcommands) > 0 {
		b.WriteString("\ncommands:\n")
		for _, sub := range c.Subcommands {
			fmt.Fprintf(&b, "  %-10s %s\n", sub.Name, sub.ShortHelp)
		}
	}
	first := true
	c.FlagSet.VisitAll(func(f *flag.Flag) {
		if first {
			b.WriteString("\nflags:\n")
			first = false
		}
		what, usage := flag.UnquoteUsage(f)
		if f.DefValue != "" && f.DefValue != "false" {
			usage += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(&b, "  %-26s %s\n", strings.TrimSpace("--"+f.Name+" "+what), usage)
	})
	return b.String()
}
