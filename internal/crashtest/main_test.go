package crashtest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/crashtest"
)

func TestMain(m *testing.M) {
	crashtest.Main(m, map[string]crashtest.Func{
		"steps":  steps,
		"broken": func(context.Context, *crashtest.Self) error { return errors.New("cannot work") },
		"deaf":   deaf,
	})
}

// stepsConfig is the configuration of the worker steps.
type stepsConfig struct{ Greeting string }

// steps goes through the points "before" and "after" and notes each, until ctx
// ends.
func steps(ctx context.Context, self *crashtest.Self) error {
	var c stepsConfig
	if err := self.Decode(&c); err != nil {
		return err
	}
	self.Reach("start")
	fmt.Fprintln(os.Stderr, "log:", c.Greeting)
	self.Ready()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		self.Reach("before")
		self.Note("step %d", n)
		self.Reach("after")
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// deaf does not end on SIGTERM.
func deaf(_ context.Context, self *crashtest.Self) error {
	self.Ready()
	<-make(chan struct{})
	return nil
}
