package processor_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/internal/kafkatest"
	"github.com/weirstream/weir/processor"
	"github.com/weirstream/weir/topology"
)

// childEnv makes the test binary a program: it holds application id, input and
// output topic. A record "hold" keeps the program's function for ever.
const childEnv = "PROCESSOR_TEST_CHILD"

func childMain(spec string) {
	part := strings.Split(spec, " ")
	processor.Main(part[0], func(b *topology.Builder) {
		s := topology.Source(b, part[1], topology.String, topology.String)
		topology.MapValues(s, "hold", func(v string) (string, error) {
			if v == "hold" {
				select {}
			}
			return v, nil
		}).To(part[2], topology.String, topology.String)
	})
}

// child is a running program.
type child struct {
	cmd    *exec.Cmd
	lines  *bufio.Scanner
	stderr bytes.Buffer
}

func spawn(t *testing.T, c *kafkatest.Cluster, id, in, out string) *child {
	t.Helper()
	p := &child{cmd: exec.CommandContext(t.Context(), os.Args[0], "--brokers", c.Brokers()[0], "--state-dir", t.TempDir())}
	p.cmd.Env = append(os.Environ(), childEnv+"="+strings.Join([]string{id, in, out}, " "))
	p.cmd.Stderr = &p.stderr
	stdout, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	p.lines = bufio.NewScanner(stdout)
	return p
}

// until reads the log up to a line with text.
func (p *child) until(t *testing.T, text string) {
	t.Helper()
	for p.lines.Scan() {
		if strings.Contains(p.lines.Text(), text) {
			return
		}
	}
	t.Fatalf("the program ended without %q: %s", text, p.stderr.String())
}

// wait reads the rest of the log and waits for the end.
func (p *child) wait() error {
	for p.lines.Scan() { // the pipe must be empty before Wait
	}
	return p.cmd.Wait()
}

func TestSIGTERMDrainsAndASecondEndsAtOnce(t *testing.T) {
	c := kafkatest.Start(t)
	id, in, out := kafkatest.Name("app"), c.Topic(t, "in", 1), c.Topic(t, "out", 1)
	put(t, c, in, "1", "2")
	p := spawn(t, c, id, in, out)
	p.until(t, "outside of it only effects of the gate have a promise")
	drained(t, c, id, in)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, p.wait(), "exit code 0: %s", p.stderr.String())
	require.Empty(t, p.stderr.String())
	require.Empty(t, c.OpenTransactions(t, id+"/"))

	put(t, c, in, "hold")
	p = spawn(t, c, id, in, out)
	p.until(t, "msg=starting")
	require.Eventually(t, func() bool { return len(c.OpenTransactions(t, id+"/")) > 0 }, waitLong, waitStep)
	began := time.Now()
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	ended := make(chan error, 1)
	go func() { ended <- p.wait() }()
	select {
	case err := <-ended:
		t.Fatalf("the record in hand was not waited for: %v", err)
	case <-time.After(500 * time.Millisecond):
	}
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.EqualError(t, <-ended, "signal: terminated")
	require.Less(t, time.Since(began), 5*time.Second)
	require.Equal(t, []string{"1", "2"}, values(t, c, out))
}
