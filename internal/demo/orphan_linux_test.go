package demo_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAKilledDemoLeavesNoWorkerBehind(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), orphanEnv+"=1")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	scan := bufio.NewScanner(out)
	for scan.Scan() && !strings.Contains(scan.Text(), "SIGKILL") {
		t.Log(scan.Text())
	}
	require.Contains(t, scan.Text(), "SIGKILL", "records flow")
	workers := children(t, cmd.Process.Pid)
	require.GreaterOrEqual(t, len(workers), 4, "two of each fleet")

	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	require.Eventually(t, func() bool {
		for _, stat := range workers {
			if alive(stat) {
				return false
			}
		}
		return true
	}, 10*time.Second, 20*time.Millisecond)
}

// children returns the stat files of the live children of a process.
func children(t *testing.T, parent int) []string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	var found []string
	for _, stat := range all {
		if f := fields(stat); len(f) > 1 && f[1] == fmt.Sprint(parent) && alive(stat) {
			found = append(found, stat)
		}
	}
	return found
}

// alive says whether a process is there and is no zombie.
func alive(stat string) bool {
	f := fields(stat)
	return len(f) > 0 && f[0] != "Z" && f[0] != "X"
}

// fields are those of a stat file after the name of the command: the state, the
// parent's pid and so on.
func fields(stat string) []string {
	text, err := os.ReadFile(stat)
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}
