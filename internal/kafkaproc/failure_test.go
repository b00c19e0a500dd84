package kafkaproc_test

import (
	"bufio"
	"context"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/internal/kafkaproc"
)

// parentEnv turns the test binary into a parent that starts a cluster and waits
// to be killed.
const parentEnv = "WEIR_KAFKAPROC_PARENT"

func TestMain(m *testing.M) {
	if os.Getenv(parentEnv) != "" {
		parent()
		return
	}
	os.Exit(m.Run())
}

func parent() {
	c, err := kafkaproc.Start(context.Background(), kafkaproc.Options{Dir: os.Getenv(parentEnv)})
	if err != nil {
		panic(err)
	}
	_, _ = os.Stdout.WriteString("broker " + c.Brokers()[0] + "\n")
	select {}
}

// TestKafkaDiesWithItsParent kills the parent with SIGKILL, which no cleanup of
// its own survives.
func TestKafkaDiesWithItsParent(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), parentEnv+"="+t.TempDir())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	addr := strings.TrimSpace(strings.TrimPrefix(line, "broker "))
	serves := func() bool {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(t.Context(), "tcp", addr)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}
	require.True(t, serves())
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	require.Eventually(t, func() bool { return !serves() }, 20*time.Second, 50*time.Millisecond)
}

// TestStartShowsTheLog has java refuse its arguments.
func TestStartShowsTheLog(t *testing.T) {
	dir := t.TempDir()
	_, err := kafkaproc.Start(t.Context(), kafkaproc.Options{Dir: dir, JVMArgs: []string{"-XX:+NoSuchOption"}})
	require.ErrorContains(t, err, "node 0 ended by itself")
	require.ErrorContains(t, err, "Unrecognized VM option 'NoSuchOption'")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)

	_, err = kafkaproc.Start(t.Context(), kafkaproc.Options{Nodes: 2})
	require.ErrorContains(t, err, "2 nodes")
}
