package crashtest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/weirstream/weir/internal/kafkatest"
)

// Func is what a worker process does. ctx ends on SIGTERM; a return of nil is a
// clean end. An error ends the process with code 1 and is in its log.
type Func func(ctx context.Context, self *Self) error

// Main is the TestMain of a package with workers: it runs the worker function
// that the environment names, or else the tests with a Kafka to share, and then
// stops, which stop other things that tests share: they get the exit code so far
// and give the one to go on with. It does not return.
func Main(m *testing.M, workers map[string]Func, stops ...func(code int) int) {
	name, worker := os.LookupEnv(envFunc)
	if !worker {
		code := m.Run()
		for _, stop := range stops {
			code = stop(code)
		}
		os.Exit(kafkatest.Stop(code))
	}
	if err := runWorker(workers[name], os.Stdin, os.NewFile(linesFD, "lines")); err != nil {
		fmt.Fprintf(os.Stderr, "worker %s: %v\n", name, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func runWorker(fn Func, commands io.Reader, lines io.Writer) error {
	if fn == nil {
		return fmt.Errorf("crashtest: no such worker function: name it in TestMain")
	}
	self := &Self{lines: lines, released: make(chan struct{}, 1)}
	if arm := os.Getenv(envArm); arm != "" {
		if err := self.arm(arm); err != nil {
			return err
		}
	}
	go self.obey(commands) // ends the process when the test is gone
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return fn(ctx, self)
}

// Self is a worker's side of the harness. Its methods may be called from any
// goroutine of the worker.
type Self struct {
	released chan struct{} // one element: a release that nobody waits for yet

	mu struct {
		sync.Mutex
		point string // armed; empty when none
		skip  int    // how often it is passed first
	}
	out   sync.Mutex // guards lines
	lines io.Writer
}

// Decode reads the worker's configuration, Spec.Config, into v.
func (s *Self) Decode(v any) error {
	if err := json.Unmarshal([]byte(os.Getenv(envConfig)), v); err != nil {
		return fmt.Errorf("crashtest: worker configuration: %w", err)
	}
	return nil
}

// Ready tells the test that the worker is set up.
func (s *Self) Ready() { s.say(lineReady) }

// Note tells the test something, in one line.
func (s *Self) Note(format string, args ...any) {
	s.say(lineNote + strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " "))
}

// Reach marks a dangerous point. If the test has armed it, the test is told and
// the calling goroutine stands still until the process is killed or released.
// A point is hit once for each time it is armed. Reach reports whether it was.
func (s *Self) Reach(point string) bool {
	s.mu.Lock()
	hit := s.mu.point != "" && s.mu.point == point
	if hit && s.mu.skip > 0 {
		s.mu.skip--
		hit = false
	}
	if hit {
		s.mu.point = ""
	}
	s.mu.Unlock()
	if hit {
		s.say(lineHit + point)
		<-s.released
	}
	return hit
}

// say writes one line in one write. A test that is gone has closed the pipe;
// obey ends the process then.
func (s *Self) say(line string) {
	s.out.Lock()
	defer s.out.Unlock()
	_, _ = io.WriteString(s.lines, line+"\n")
}

// arm takes "<skip> <point>".
func (s *Self) arm(text string) error {
	skip, point, _ := strings.Cut(text, " ")
	n, err := strconv.Atoi(skip)
	if err != nil || point == "" {
		return fmt.Errorf("crashtest: arm %q: want <skip> <point>", text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.point, s.mu.skip = point, n
	return nil
}

// obey follows the test's commands and ends the process when they end.
func (s *Self) obey(commands io.Reader) {
	scan := bufio.NewScanner(commands)
	for scan.Scan() {
		line := scan.Text()
		if rest, ok := strings.CutPrefix(line, lineArm); ok {
			if err := s.arm(rest); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		} else if line == lineRelease {
			select {
			case s.released <- struct{}{}:
			default: // one is waiting already
			}
		}
	}
	fmt.Fprintln(os.Stderr, "crashtest: the test is gone")
	os.Exit(1)
}
