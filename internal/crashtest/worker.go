package crashtest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Spec says what a worker process is.
type Spec struct {
	// Func names the worker function given to Main.
	Func string
	// Label names the worker in messages; default Func.
	Label string
	// Config goes to the worker as JSON, for Self.Decode.
	Config any
	// Arm, if not empty, is a point armed before the worker function starts,
	// after passing it ArmSkip times. A later one is armed with Worker.Arm.
	Arm     string
	ArmSkip int
	// Binary is the program to run; default: the running test binary. Another
	// one has to have the same workers, for instance built with other tags.
	Binary string
}

// Worker is a running worker process. Its methods may be called from any
// goroutine.
type Worker struct {
	label    string
	cmd      *exec.Cmd
	commands io.WriteCloser
	log      tail
	ready    chan struct{} // closed by the line ready
	hits     chan string   // room for many: the reader of the lines never waits for the test
	done     chan struct{} // closed when the process is gone and err is set
	err      error         // its exit status

	mu struct {
		sync.Mutex
		notes []string
	}
}

// Start runs a worker process. When the test ends the process is killed, and if
// the test failed the end of its log is printed. A process that cannot be
// started fails the test.
func Start(t testing.TB, spec Spec) *Worker {
	t.Helper()
	if spec.Label == "" {
		spec.Label = spec.Func
	}
	w, err := start(spec)
	if err != nil {
		t.Fatalf("crashtest: start %s: %v", spec.Label, err)
	}
	t.Cleanup(func() {
		w.Kill()
		if t.Failed() {
			t.Logf("%s (pid %d) ended with %v; its log ends with\n%s", w.label, w.PID(), w.err, w.Tail())
		}
	})
	return w
}

func start(spec Spec) (*Worker, error) {
	config, err := json.Marshal(spec.Config)
	if err != nil {
		return nil, err
	}
	w := &Worker{
		label: spec.Label, ready: make(chan struct{}), hits: make(chan string, 1024), done: make(chan struct{}),
	}
	binary := spec.Binary
	if binary == "" {
		binary = os.Args[0] // the test binary; the worker gets none of its flags
	}
	w.cmd = exec.Command(binary) //nolint:noctx // its life is the test's, ended by Kill
	w.cmd.Env = append(os.Environ(), envFunc+"="+spec.Func, envConfig+"="+string(config))
	if spec.Arm != "" {
		w.cmd.Env = append(w.cmd.Env, fmt.Sprintf("%s=%d %s", envArm, spec.ArmSkip, spec.Arm))
	}
	w.cmd.Stdout, w.cmd.Stderr = &w.log, &w.log
	if w.commands, err = w.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	lines, childLines, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	w.cmd.ExtraFiles = []*os.File{childLines} // linesFD in the child
	if err := w.cmd.Start(); err != nil {
		return nil, errors.Join(err, lines.Close(), childLines.Close())
	}
	_ = childLines.Close()
	go w.watch(lines) // ends with the process
	return w, nil
}

// watch reads the worker's lines until the process is gone, then its status.
func (w *Worker) watch(lines *os.File) {
	scan := bufio.NewScanner(lines)
	ready := false
	for scan.Scan() {
		line := scan.Text()
		if line == lineReady && !ready {
			ready = true
			close(w.ready)
		} else if point, ok := strings.CutPrefix(line, lineHit); ok {
			w.hits <- point
		} else if note, ok := strings.CutPrefix(line, lineNote); ok {
			w.mu.Lock()
			w.mu.notes = append(w.mu.notes, note)
			w.mu.Unlock()
		}
	}
	_ = lines.Close()
	w.err = w.cmd.Wait()
	close(w.done)
}

// PID is the worker's process id.
func (w *Worker) PID() int { return w.cmd.Process.Pid }

// Label is the worker's name in messages.
func (w *Worker) Label() string { return w.label }

// Done is closed when the process is gone.
func (w *Worker) Done() <-chan struct{} { return w.done }

// Notes are the lines that the worker wrote with Self.Note so far.
func (w *Worker) Notes() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.mu.notes...)
}

// Tail is the end of the worker's log.
func (w *Worker) Tail() string { return w.log.String() }

// WaitReady returns when the worker has called Self.Ready. The error says that
// it died first, or that ctx ended, with the end of its log.
func (w *Worker) WaitReady(ctx context.Context) error {
	select {
	case <-w.ready:
		return nil
	case <-w.done:
		return w.gone("before it was ready")
	case <-ctx.Done():
		return fmt.Errorf("crashtest: %s is not ready: %w; its log ends with\n%s", w.label, ctx.Err(), w.Tail())
	}
}

// Arm makes the worker stop at the point, after passing it skip times. One
// point is armed at a time; a new one takes the place of one not hit yet.
func (w *Worker) Arm(point string, skip int) error {
	return w.command(fmt.Sprintf("%s%d %s", lineArm, skip, point))
}

// Release lets the worker go on from the point where it stands.
func (w *Worker) Release() error { return w.command(lineRelease) }

func (w *Worker) command(line string) error {
	if _, err := io.WriteString(w.commands, line+"\n"); err != nil {
		return fmt.Errorf("crashtest: %s: %s: %w", w.label, line, err)
	}
	return nil
}

// WaitHit returns the next armed point that the worker stands at. The error
// says that it died first or that ctx ended: the point was not hit.
func (w *Worker) WaitHit(ctx context.Context) (point string, err error) {
	select {
	case point := <-w.hits:
		return point, nil
	case <-w.done:
		select {
		case point := <-w.hits: // said before it died
			return point, nil
		default:
			return "", w.gone("before it reached a point")
		}
	case <-ctx.Done():
		return "", fmt.Errorf("crashtest: %s reached no armed point: %w", w.label, ctx.Err())
	}
}

// Kill sends SIGKILL and returns when the process is gone. A process that is
// gone already is no error.
func (w *Worker) Kill() {
	_ = w.cmd.Process.Kill()
	<-w.done
}

// Freeze sends SIGSTOP.
func (w *Worker) Freeze() error { return w.signal(syscall.SIGSTOP) }

// Thaw sends SIGCONT.
func (w *Worker) Thaw() error { return w.signal(syscall.SIGCONT) }

// Terminate sends SIGTERM and waits for a clean end. The error says that the
// process was not gone in time (it is killed then) or that its exit code was
// not 0.
func (w *Worker) Terminate(within time.Duration) error {
	if err := w.signal(syscall.SIGTERM); err != nil {
		return err
	}
	late := time.NewTimer(within)
	defer late.Stop()
	select {
	case <-w.done:
	case <-late.C:
		w.Kill()
		return fmt.Errorf("crashtest: %s was not gone %v after SIGTERM; its log ends with\n%s", w.label, within, w.Tail())
	}
	if w.err != nil {
		return w.gone("after SIGTERM")
	}
	return nil
}

func (w *Worker) signal(sig syscall.Signal) error {
	if err := w.cmd.Process.Signal(sig); err != nil {
		return fmt.Errorf("crashtest: %s: %v: %w", w.label, sig, err)
	}
	return nil
}

// gone describes an end that should not have been. REQUIRES: done is closed.
func (w *Worker) gone(when string) error {
	return fmt.Errorf("crashtest: %s (pid %d) ended %s: %w; its log ends with\n%s",
		w.label, w.PID(), when, errors.Join(os.ErrProcessDone, w.err), w.Tail())
}
