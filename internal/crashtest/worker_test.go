package crashtest_test

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/internal/crashtest"
)

const patience = 20 * time.Second

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestAWorkerIsReadyLogsAndEndsCleanly(t *testing.T) {
	w := crashtest.Start(t, crashtest.Spec{Func: "steps", Config: stepsConfig{Greeting: "good day"}})
	require.NoError(t, w.WaitReady(within(t, patience)))
	require.NotEqual(t, os.Getpid(), w.PID())
	require.NoError(t, w.Terminate(patience))
	require.Contains(t, w.Tail(), "log: good day")
	require.NotEmpty(t, w.Notes())
}

func TestAnArmedPointHoldsTheWorkerUntilItIsKilled(t *testing.T) {
	w := crashtest.Start(t, crashtest.Spec{Func: "steps"})
	require.NoError(t, w.WaitReady(within(t, patience)))
	require.NoError(t, w.Arm("after", 0))
	point, err := w.WaitHit(within(t, patience))
	require.NoError(t, err)
	require.Equal(t, "after", point)

	held := len(w.Notes())
	_, err = w.WaitHit(within(t, 100*time.Millisecond))
	require.ErrorIs(t, err, context.DeadlineExceeded, "one hit for one arm")
	require.Len(t, w.Notes(), held, "a held worker does nothing")
	w.Kill()
	_, err = w.WaitHit(within(t, patience))
	require.ErrorIs(t, err, os.ErrProcessDone)
}

func TestAHeldWorkerGoesOnWhenReleased(t *testing.T) {
	w := crashtest.Start(t, crashtest.Spec{Func: "steps", Arm: "before", ArmSkip: 2})
	_, err := w.WaitHit(within(t, patience))
	require.NoError(t, err)
	require.Equal(t, []string{"step 0", "step 1"}, w.Notes(), "passed twice before it held")
	require.NoError(t, w.Release())
	require.NoError(t, w.Arm("after", 0))
	_, err = w.WaitHit(within(t, patience))
	require.NoError(t, err)
	require.Contains(t, w.Notes(), "step 2")
}

func TestAPointBeforeReadyIsArmedAtTheStart(t *testing.T) {
	w := crashtest.Start(t, crashtest.Spec{Func: "steps", Arm: "start"})
	point, err := w.WaitHit(within(t, patience))
	require.NoError(t, err)
	require.Equal(t, "start", point)
	require.ErrorIs(t, w.WaitReady(within(t, 100*time.Millisecond)), context.DeadlineExceeded)
}

func TestAPointThatIsNeverReachedIsNoHit(t *testing.T) {
	w := crashtest.Start(t, crashtest.Spec{Func: "steps", Arm: "elsewhere"})
	require.NoError(t, w.WaitReady(within(t, patience)))
	_, err := w.WaitHit(within(t, 200*time.Millisecond))
	require.ErrorContains(t, err, "reached no armed point")
}

func TestAFrozenWorkerStandsStillAndGoesOn(t *testing.T) {
	w := crashtest.Start(t, crashtest.Spec{Func: "steps"})
	require.NoError(t, w.WaitReady(within(t, patience)))
	require.NoError(t, w.Freeze())
	require.NoError(t, w.Arm("after", 0))
	_, err := w.WaitHit(within(t, 300*time.Millisecond))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, w.Thaw())
	_, err = w.WaitHit(within(t, patience))
	require.NoError(t, err)
}

func TestAFrozenWorkerCanBeKilled(t *testing.T) {
	w := crashtest.Start(t, crashtest.Spec{Func: "steps"})
	require.NoError(t, w.WaitReady(within(t, patience)))
	require.NoError(t, w.Freeze())
	w.Kill()
	<-w.Done()
}

func TestABrokenWorkerSaysWhy(t *testing.T) {
	w := crashtest.Start(t, crashtest.Spec{Func: "broken"})
	err := w.WaitReady(within(t, patience))
	require.ErrorIs(t, err, os.ErrProcessDone)
	require.ErrorContains(t, err, "cannot work")
	require.ErrorContains(t, err, "exit status 1")
}

func TestAnUnknownWorkerSaysSo(t *testing.T) {
	w := crashtest.Start(t, crashtest.Spec{Func: "nobody"})
	require.ErrorContains(t, w.WaitReady(within(t, patience)), "no such worker function")
}

func TestAWorkerThatDoesNotHeedSIGTERMIsKilledAndNamed(t *testing.T) {
	w := crashtest.Start(t, crashtest.Spec{Func: "deaf", Label: "deaf-0"})
	require.NoError(t, w.WaitReady(within(t, patience)))
	require.ErrorContains(t, w.Terminate(200*time.Millisecond), "deaf-0 was not gone 200ms after SIGTERM")
	<-w.Done()
}

// The pipe of commands ends with the test process, however that ended.
func TestAWorkerEndsWithItsTest(t *testing.T) {
	lines, err := os.CreateTemp(t.TempDir(), "lines")
	require.NoError(t, err)
	defer func() { require.NoError(t, lines.Close()) }()
	cmd := exec.CommandContext(within(t, patience), os.Args[0])
	cmd.Env = append(os.Environ(), "WEIR_CRASHTEST_FUNC=deaf")
	cmd.ExtraFiles = []*os.File{lines}
	commands, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	require.NoError(t, commands.Close())
	require.Error(t, cmd.Wait())
	require.Equal(t, 1, cmd.ProcessState.ExitCode(), "it ended by itself")
}
