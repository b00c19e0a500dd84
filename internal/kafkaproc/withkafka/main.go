// Command withkafka runs another command beside a Kafka cluster, and if asked for
// a PostgreSQL, that live just as long:
//
//	go run ./internal/kafkaproc/withkafka [-nodes 1] [-postgres] -- go test ./...
//
// The command finds the brokers in WEIR_TEST_KAFKA (host:port,...) and the
// database server in WEIR_TEST_POSTGRES (a URL). Its exit code is passed on; 1
// means that one of them could not be started.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/weirstream/weir/internal/devpg"
	"github.com/weirstream/weir/internal/kafkaproc"
)

func main() {
	nodes := flag.Int("nodes", 1, "number of Kafka nodes: 1 or 3")
	postgres := flag.Bool("postgres", false, "start a PostgreSQL, too")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, *nodes, *postgres, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "withkafka:", err)
	}
	os.Exit(code)
}

// run returns the command's exit code, or 1 and the error that kept it from
// having one.
func run(ctx context.Context, nodes int, postgres bool, args []string) (code int, err error) {
	if len(args) == 0 {
		return 1, errors.New("no command; write it after --")
	}
	started := time.Now()
	cluster, err := kafkaproc.Start(ctx, kafkaproc.Options{Nodes: nodes})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	brokers := strings.Join(cluster.Brokers(), ",")
	slog.Info("kafka serves", "brokers", brokers, "nodes", nodes, "elapsed", time.Since(started).Round(time.Millisecond))
	env := append(os.Environ(), "WEIR_TEST_KAFKA="+brokers)
	if postgres {
		started = time.Now()
		server, err := devpg.Start(ctx, devpg.Options{})
		if err != nil {
			return 1, err
		}
		defer func() { err = errors.Join(err, server.Stop()) }()
		address := server.DSN("postgres")
		slog.Info("postgresql serves", "address", address, "elapsed", time.Since(started).Round(time.Millisecond))
		env = append(env, "WEIR_TEST_POSTGRES="+address)
	}

	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = env
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if exit.ExitCode() < 0 { // ended by a signal
			return 1, fmt.Errorf("%s: %w", args[0], err)
		}
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 1, fmt.Errorf("%s: %w", args[0], err)
	}
	return 0, nil
}
