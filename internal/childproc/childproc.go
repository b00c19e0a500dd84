// Package childproc runs child processes that do not outlive this one: on Linux
// the kernel kills them (PR_SET_PDEATHSIG), elsewhere only End does.
package childproc

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// Process is one started child. Its methods may be called from any goroutine.
type Process struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed once err is set
	err    error         // the exit status

	mu sync.Mutex // one End at a time
}

// Start starts cmd in a process group of its own, as user if that is not nil, and
// closes out when the child has ended. It sets cmd.SysProcAttr.
func Start(cmd *exec.Cmd, user *syscall.Credential, out io.Closer) (*Process, error) {
	cmd.SysProcAttr = childAttr()
	cmd.SysProcAttr.Credential = user
	p := &Process{cmd: cmd, exited: make(chan struct{})}
	started := make(chan error, 1)
	// The parent-death signal follows the thread that forked, not the process,
	// so that thread is kept until the child is gone (golang/go#27505). The
	// goroutine ends with the child.
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer func() { _ = out.Close() }()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
		}
		close(p.exited)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// Exited is closed when the child has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Err is the exit status of a child that has ended; nil before, and for 0.
func (p *Process) Err() error {
	if p.Running() {
		return nil
	}
	return p.err
}

// Running says whether the child has not ended.
func (p *Process) Running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// Signal sends sig.
func (p *Process) Signal(sig syscall.Signal) error { return p.cmd.Process.Signal(sig) }

// End sends sig and waits until the child is gone; nothing happens to one that
// has ended.
func (p *Process) End(ctx context.Context, sig syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.Running() {
		return nil
	}
	if err := p.Signal(sig); err != nil && p.Running() {
		return fmt.Errorf("%v: %w", sig, err)
	}
	select {
	case <-p.exited:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("it did not end after %v: %w", sig, ctx.Err())
	}
}
