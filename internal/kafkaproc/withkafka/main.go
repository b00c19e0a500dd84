// Command withkafka runs another command beside a Kafka cluster that lives just
// as long:
//
//	go run ./internal/kafkaproc/withkafka [-nodes 1] -- go test ./...
//
// The command finds the brokers in WEIR_TEST_KAFKA (host:port,...). Its exit
// code is passed on; 1 means that Kafka or the command could not be started.
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

	"github.com/weirstream/weir/internal/kafkaproc"
)

func main() {
	nodes := flag.Int("nodes", 1, "number of Kafka nodes: 1 or 3")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, *nodes, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "withkafka:", err)
	}
	os.Exit(code)
}

// run returns the command's exit code, or 1 and the error that kept it from
// having one.
func run(ctx context.Context, nodes int, args []string) (code int, err error) {
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

	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "WEIR_TEST_KAFKA="+brokers)
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
