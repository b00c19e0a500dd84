package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// child is a contender's process.
type child struct {
	cmd  *exec.Cmd
	done chan error
	errs *bytes.Buffer
}

// Usage is what the operating system says of a finished process.
type Usage struct {
	CPU       time.Duration // user and system
	PeakBytes int64         // largest resident size
}

// start runs this program again with args, which must lead to RunChild.
func start(ctx context.Context, args []string, s Spec) (*child, error) {
	spec, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, args...)
	errs := &bytes.Buffer{}
	cmd.Stdin, cmd.Stderr = bytes.NewReader(spec), errs
	cmd.SysProcAttr = dieWithParent()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, done: make(chan error, 1), errs: errs}
	go func() { c.done <- cmd.Wait() }()
	return c, nil
}

// childDeadline is how long a contender may take to stop.
const childDeadline = 30 * time.Second

// stop asks the process to end and gives its usage.
func (c *child) stop() (Usage, error) {
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return Usage{}, err
	}
	select {
	case err := <-c.done:
		return c.usage(), c.explain(err)
	case <-time.After(childDeadline):
		_ = c.cmd.Process.Kill() // it has had its chance
		return Usage{}, errors.Join(errors.New("did not stop in time"), <-c.done)
	}
}

// failed says whether the process ended by itself.
func (c *child) failed() error {
	select {
	case err := <-c.done:
		c.done <- err
		return fmt.Errorf("ended by itself: %w", errors.Join(err, errors.New(c.errs.String())))
	default:
		return nil
	}
}

func (c *child) explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", err, bytes.TrimSpace(c.errs.Bytes()))
}

func (c *child) usage() Usage {
	ru, ok := c.cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return Usage{}
	}
	return Usage{
		CPU:       time.Duration(ru.Utime.Nano() + ru.Stime.Nano()),
		PeakBytes: ru.Maxrss * peakUnit,
	}
}
