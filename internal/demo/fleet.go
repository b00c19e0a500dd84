package demo

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// stopTimeout bounds how long a worker may take to end after SIGTERM.
const stopTimeout = 20 * time.Second

// fleet is the worker processes of one kind. Its methods are called from one
// goroutine, except count.
type fleet struct {
	command []string
	tasks   []task
	live    []*process // nil: killed

	// failed receives the first worker that ended by itself; room for one.
	failed chan error

	mu    sync.Mutex
	words map[string]int // reports by word
}

// process is one life of a worker.
type process struct {
	cmd   *exec.Cmd
	stdin io.Closer // kept open: its end ends the worker
	log   tail
	up    chan struct{} // closed when it has partitions
	done  chan struct{} // closed when it is gone
	ours  chan struct{} // closed before we end it
}

func newFleet(command []string, tasks []task) *fleet {
	return &fleet{
		command: command, tasks: tasks, live: make([]*process, len(tasks)),
		failed: make(chan error, 1), words: map[string]int{},
	}
}

// start runs the worker of a number.
func (f *fleet) start(n int) error {
	spec, err := json.Marshal(f.tasks[n])
	if err != nil {
		return err
	}
	p := &process{up: make(chan struct{}), done: make(chan struct{}), ours: make(chan struct{})}
	p.cmd = exec.Command(f.command[0], f.command[1:]...) //nolint:noctx // its life is ended by strike and stop
	p.cmd.Env = append(os.Environ(), workerEnv+"="+string(spec))
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	reports, childEnd, err := os.Pipe()
	if err != nil {
		return err
	}
	p.cmd.ExtraFiles = []*os.File{childEnd} // reportFD there
	if err := p.cmd.Start(); err != nil {
		return errors.Join(fmt.Errorf("start a worker: %w", err), reports.Close(), childEnd.Close())
	}
	_ = childEnd.Close()
	f.live[n] = p
	go f.watch(p, reports) // ends with the process
	return nil
}

// watch counts the reports of a process until it is gone.
func (f *fleet) watch(p *process, reports io.ReadCloser) {
	scan := bufio.NewScanner(reports)
	up := false
	for scan.Scan() {
		if scan.Text() == reportUp {
			if !up {
				close(p.up)
			}
			up = true
			continue
		}
		f.mu.Lock()
		f.words[scan.Text()]++
		f.mu.Unlock()
	}
	_ = reports.Close()
	_ = p.cmd.Wait() // how it ended is in its state
	select {
	case <-p.ours:
	default:
		err := fmt.Errorf("a worker (pid %d) ended by itself, %v; its log ends with: %s", p.cmd.Process.Pid, p.cmd.ProcessState, p.log.String())
		select {
		case f.failed <- err:
		default: // the first one is enough
		}
	}
	close(p.done)
}

// ready waits until every worker has partitions.
func (f *fleet) ready(ctx context.Context) error {
	for n, p := range f.live {
		select {
		case <-p.up:
		case err := <-f.failed:
			return err
		case <-ctx.Done():
			return fmt.Errorf("%s got no partitions: %w; its log ends with: %s", f.tasks[n].Instance, ctx.Err(), p.log.String())
		}
	}
	return nil
}

// strike sends SIGKILL and returns the process id, or 0 if none is alive. bury
// has to follow.
func (f *fleet) strike(n int) int {
	p := f.live[n]
	if p == nil {
		return 0
	}
	close(p.ours)
	_ = p.cmd.Process.Kill()
	return p.cmd.Process.Pid
}

// bury waits until the process that was struck is gone.
func (f *fleet) bury(n int) {
	if p := f.live[n]; p != nil {
		<-p.done
		f.live[n] = nil
	}
}

// stop ends every worker with SIGTERM. One that does not end in time is killed
// and is an error.
func (f *fleet) stop() error {
	var faults []error
	for _, p := range f.live {
		if p != nil {
			close(p.ours)
			_ = p.cmd.Process.Signal(syscall.SIGTERM)
		}
	}
	late := time.NewTimer(stopTimeout)
	defer late.Stop()
	for n, p := range f.live {
		if p == nil {
			continue
		}
		select {
		case <-p.done:
		case <-late.C:
			faults = append(faults, fmt.Errorf("%s was not gone %v after SIGTERM; its log ends with: %s", f.tasks[n].Instance, stopTimeout, p.log.String()))
			late.Reset(0) // and so are the others
			_ = p.cmd.Process.Kill()
			<-p.done
		}
		f.live[n] = nil
	}
	return errors.Join(faults...)
}

// killAll ends what is left at once.
func (f *fleet) killAll() {
	for n := range f.live {
		f.strike(n)
		f.bury(n)
	}
}

// count is how many reports had the word.
func (f *fleet) count(word string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.words[word]
}
