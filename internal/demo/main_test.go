package demo_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/weirstream/weir/internal/demo"
	"github.com/weirstream/weir/internal/kafkatest"
)

// orphanEnv makes the test binary a demo that a test kills.
const orphanEnv = "WEIR_DEMO_TEST_ORPHANS"

// TestMain is a worker or a demo if the environment says so: the test binary
// runs itself.
func TestMain(m *testing.M) {
	switch {
	case demo.WorkerRequested():
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		exit(demo.RunWorker(ctx))
	case os.Getenv(orphanEnv) != "":
		_, err := demo.Run(context.Background(), options(os.Stdout))
		exit(err)
	}
	kafkatest.Main(m)
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
