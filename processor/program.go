package processor

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/peterbourgon/ff/v3"

	"github.com/weirstream/weir/topology"
)

// Main is a whole program: it reads flags and WEIR_* environment variables, runs
// the application named by its application id, and exits. Run it with --help.
//
// SIGTERM or SIGINT drains and leaves; a second one ends the process at once.
// Exit code 0: stopped when asked. 1: it cannot go on, with one line on standard
// error that says why and what to do. 2: bad flags or settings, likewise. Logs go
// to standard output.
func Main(name string, build func(*topology.Builder), opts ...Option) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT) //nolint:forbidigo // a program begins here
	context.AfterFunc(ctx, stop)                                                             // the default action is back for the second signal
	os.Exit(run(ctx, name, build, opts, os.Args[1:], os.Stdout, os.Stderr))
}

// run is Main without the process.
func run(ctx context.Context, name string, build func(*topology.Builder), opts []Option, args []string, stdout, stderr io.Writer) int {
	complain := func(code int, err error) int {
		fmt.Fprintf(stderr, "%s: %s\n", name, strings.TrimPrefix(oneLine(err), "eos: "))
		return code
	}
	if build == nil {
		return complain(2, errors.New("the function that builds the topology is nil"))
	}
	cfg, err := newConfig(name, opts)
	if err != nil {
		return complain(2, err)
	}
	f := newFlags(name, cfg, stdout)
	switch err := ff.Parse(f.set, args, ff.WithEnvVarPrefix("WEIR")); {
	case errors.Is(err, flag.ErrHelp):
		f.help()
		return 0
	case err != nil:
		return complain(2, fmt.Errorf("%w; see --help", err))
	case f.set.NArg() > 0:
		return complain(2, fmt.Errorf("unexpected argument %q; see --help", f.set.Arg(0)))
	}
	plan, err := newPlan(name, build)
	switch {
	case err != nil:
		return complain(2, err)
	case f.describe:
		fmt.Fprint(stdout, plan.Describe())
		return 0
	case f.mermaid:
		fmt.Fprint(stdout, plan.Mermaid())
		return 0
	}
	if cfg.engine.Logger == nil {
		cfg.engine.Logger = f.logger(stdout)
	}
	app, err := newApp(cfg, plan)
	if err != nil {
		return complain(2, err)
	}
	if err := app.Run(ctx); err != nil {
		return complain(1, err)
	}
	return 0
}

// logger writes as the flags say.
func (f *flags) logger(w io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: f.logLevel}
	if f.logFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}
