package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/internal/kafkatest"
)

// asProgram makes the test binary be weir.
const asProgram = "RUN_AS_WEIR"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	kafkatest.Main(m)
}

// command is weir with args, to be started.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return cmd
}

// program runs weir to its end and returns exit code, standard output and error.
func program(t *testing.T, stdin string, args ...string) (int, string, string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := command(t, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		require.ErrorAs(t, err, new(*exec.ExitError))
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// succeed runs weir, which must end with 0 and a clean standard error.
func succeed(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	code, stdout, stderr := program(t, stdin, args...)
	require.Empty(t, stderr)
	require.Zero(t, code)
	return stdout
}
