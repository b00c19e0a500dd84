package killmatrix_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/internal/crashtest"
)

// A run that was stopped in the middle of a line does that run again, and no
// other one; and a single bad run keeps its cell from counting for good.
func TestFinishedRunsAreNotRunAgain(t *testing.T) {
	dir, all := t.TempDir(), cells()
	one, two := all[0], all[1]
	good := crashtest.Result{Row: one.row(), Cell: one.column(), Hit: true, Clean: true, Verdict: "clean"}
	b := openBook(t, dir)
	b.add(t, one, good)
	b.add(t, two, crashtest.Result{Row: two.row(), Cell: two.column(), Hit: true, Verdict: "1 missing"})
	f, err := os.OpenFile(filepath.Join(dir, "killmatrix.jsonl"), os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	_, err = f.WriteString(`{"Cell":"2 after`)
	require.NoError(t, err)
	require.NoError(t, f.Close())

	again := openBook(t, dir)
	require.Equal(t, 1, again.count(one))
	require.Equal(t, 1, again.count(two))
	require.Zero(t, again.count(all[2]))
	again.add(t, two, good)
	results := openBook(t, dir).results(all[:3])
	require.True(t, results[0].Counts())
	require.False(t, results[1].Counts())
	require.Equal(t, "2 runs: 2 hit, 1 clean; first not clean: 1 missing", results[1].Verdict)
	require.False(t, results[2].Counts(), "never run")
}

// Names are what results are kept under.
func TestCellsHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range cells() {
		require.False(t, seen[c.String()], c.String())
		seen[c.String()] = true
	}
}
