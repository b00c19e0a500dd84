package main

import (
	"bufio"
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// startDev runs weir dev until stop is called and returns its address.
func startDev(t *testing.T, args ...string) (addr string, stop func()) {
	t.Helper()
	cmd := command(t, append([]string{"dev", "--port", "0"}, args...)...)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(stdout)
	require.True(t, lines.Scan())
	first := lines.Text()
	require.Contains(t, first, "; not proof: an emulation; ")
	addr = strings.TrimPrefix(strings.Split(first, ";")[0], "Kafka 3.9 at ")
	return addr, func() {
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		for lines.Scan() { // the pipe must be empty before Wait
		}
		require.NoError(t, cmd.Wait())
	}
}

// TestAFirstEveningNeedsOnlyGo is the flow that weir dev --help shows, with
// processes: the cluster, the example, a line in, its words out.
func TestAFirstEveningNeedsOnlyGo(t *testing.T) {
	t.Parallel()
	addr, stop := startDev(t)
	hello := filepath.Join(t.TempDir(), "hello")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", hello, "../../examples/hello")
	built, err := build.CombinedOutput()
	require.NoError(t, err, "%s", built)
	app := exec.CommandContext(t.Context(), hello, "--brokers", addr, "--state-dir", t.TempDir())
	var complaints bytes.Buffer
	app.Stderr = &complaints
	require.NoError(t, app.Start())

	require.Equal(t, "wrote 2 lines to lines\n", succeed(t, "to be or\nnot to be\n", "dev", "produce", "lines", "--brokers", addr))
	words := "to\nbe\nor\nnot\nto\nbe\n"
	require.Equal(t, words, succeed(t, "", "dev", "consume", "words", "--brokers", addr, "--count", "6"))
	require.NoError(t, app.Process.Signal(syscall.SIGTERM))
	require.NoError(t, app.Wait())
	require.Empty(t, complaints.String())
	require.Equal(t, words, succeed(t, "", "dev", "consume", "words", "--brokers", addr))
	stop()
}

func TestVerbsCreateProduceAndConsumeWithKeys(t *testing.T) {
	t.Parallel()
	addr, stop := startDev(t, "--topic", "in:2")
	require.Equal(t, "created new with 3 partitions\n", succeed(t, "", "dev", "create", "new", "--partitions", "3", "--brokers", addr))
	code, _, stderr := program(t, "", "dev", "create", "new", "--brokers", addr)
	require.Equal(t, 1, code)
	require.Equal(t, "weir: topic new exists already at "+addr+"\n", stderr)

	require.Equal(t, "wrote 1 lines to new\n", succeed(t, "k=v=w\n", "dev", "produce", "new", "--key-separator", "=", "--brokers", addr))
	require.Equal(t, "k:v=w\n", succeed(t, "", "dev", "consume", "new", "--key-separator", ":", "--brokers", addr))
	code, _, stderr = program(t, "a=b\nnone\n", "dev", "produce", "new", "--key-separator", "=", "--brokers", addr)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, `line 2 has no key separator "="`)
	stop()
}

func TestADataDirKeepsRecordsBetweenRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	addr, stop := startDev(t, "--data-dir", dir)
	succeed(t, "kept\n", "dev", "produce", "lines", "--brokers", addr)
	stop()
	addr, stop = startDev(t, "--data-dir", dir)
	require.Equal(t, "kept\n", succeed(t, "", "dev", "consume", "lines", "--brokers", addr))
	stop()
}

func TestConsumeWaitsForItsCountAndSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	addr, stop := startDev(t)
	succeed(t, "one\n", "dev", "produce", "lines", "--brokers", addr)
	for flag, end := range map[string]string{"--count=2": "weir: stopped after 1 of 2 records\n", "--follow": ""} {
		cmd := command(t, "dev", "consume", "lines", "--brokers", addr, flag)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		stdout, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(stdout)
		require.True(t, lines.Scan())
		require.Equal(t, "one", lines.Text())
		require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
		require.False(t, lines.Scan())
		require.Equal(t, end != "", cmd.Wait() != nil)
		require.Equal(t, end, stderr.String())
	}
	stop()
}
