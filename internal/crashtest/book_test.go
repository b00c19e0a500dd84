package crashtest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

type namedCell string

func (c namedCell) Row() string    { return string(c) }
func (c namedCell) Column() string { return "restart" }
func (c namedCell) String() string { return string(c) + ": restart" }

// A run that was stopped in the middle of a line does that run again, and no
// other one; and a single bad run keeps its cell from counting for good.
func TestFinishedRunsAreNotRunAgain(t *testing.T) {
	dir := t.TempDir()
	open := func() *book {
		b, err := openBook(dir, "matrix")
		require.NoError(t, err)
		return b
	}
	one, two, three := namedCell("one"), namedCell("two"), namedCell("three")
	good := Result{Row: one.Row(), Cell: one.Column(), Hit: true, Clean: true, Verdict: "clean"}
	b := open()
	b.add(t, one, good)
	b.add(t, two, Result{Row: two.Row(), Cell: two.Column(), Hit: true, Verdict: "1 missing"})
	f, err := os.OpenFile(filepath.Join(dir, "matrix.jsonl"), os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	_, err = f.WriteString(`{"Cell":"tw`)
	require.NoError(t, err)
	require.NoError(t, f.Close())

	again := open()
	require.Equal(t, 1, again.count(one))
	require.Equal(t, 1, again.count(two))
	require.Zero(t, again.count(three))
	again.add(t, two, good)
	last := open()
	require.True(t, last.summary(one).Counts())
	require.False(t, last.summary(two).Counts())
	require.Equal(t, "2 runs: 2 hit, 1 clean; first not clean: 1 missing", last.summary(two).Verdict)
	require.False(t, last.summary(three).Counts(), "never run")
}
