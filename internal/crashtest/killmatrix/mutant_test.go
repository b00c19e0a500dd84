package killmatrix_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/internal/crashtest"
	"github.com/weirstream/weir/internal/crashtest/verdict"
	"github.com/weirstream/weir/internal/kafkatest"
)

// build makes the worker with a deliberately broken engine.
func build(t *testing.T, tag string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), tag)
	out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-tags", tag, "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	return binary
}

// find gives the cell of a step.
func find(t *testing.T, name string, m mode) cell {
	t.Helper()
	for _, c := range cells() {
		if c.step.name == name && c.mode == m && c.lanes == 1 && c.session == 0 {
			return c
		}
	}
	require.FailNow(t, "no such cell: "+name)
	return cell{}
}

// playMutant plays a cell with a broken engine and gives the verdict.
func playMutant(t *testing.T, tag string, c cell) verdict.Verdict {
	t.Helper()
	cluster := kafkatest.Start(t)
	s := newScene(t, cluster, c)
	s.binary = build(t, tag)
	s.run()
	require.True(t, s.hit)
	v := crashtest.Judge(t, cluster, s.app)
	crashtest.Publish(t, "%s turns red: %v: %v", tag, c, v)
	return v
}

// The matrix can fail. Each broken engine is red in the cell named here.

func TestOffsetsOutsideTheTransactionLoseRecords(t *testing.T) {
	v := playMutant(t, "mutant_offsets", find(t, "after TxnOffsetCommit's reply, before EndTxn", restart))
	require.NotZero(t, v.Of(verdict.Missing).Count)
}

func TestAnUnknownOutcomeTakenForCommittedLosesRecords(t *testing.T) {
	v := playMutant(t, "mutant_unknown", find(t, "EndTxn lost, coordinator of one of two ids unreachable past the retry budget", alive))
	require.NotZero(t, v.Of(verdict.Missing).Count)
}

func TestWithoutTheOwnershipStampRecordsAreDoubled(t *testing.T) {
	got := outliveSession(t, kafkatest.Start(t), build(t, "mutant_stamp"))
	crashtest.Publish(t, "mutant_stamp turns red: the held transaction: %s; %d offsets went back; %v", got.ended, len(got.backwards), got.verdict)
	require.Contains(t, got.ended, "ended committed")
	require.NotZero(t, got.verdict.Of(verdict.Duplicated).Count)
}
