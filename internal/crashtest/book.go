package killmatrix_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/internal/crashtest"
)

// book keeps what the runs came to, in a file if there is to be one.
type book struct {
	path string
	runs map[string][]crashtest.Result // by cell
}

// entry is one line of the file.
type entry struct {
	Cell   string
	Result crashtest.Result
}

// openBook reads the results of earlier parts from a folder; empty: none.
func openBook(t *testing.T, dir string) *book {
	t.Helper()
	b := &book{runs: map[string][]crashtest.Result{}}
	if dir == "" {
		return b
	}
	require.NoError(t, os.MkdirAll(dir, 0o755))
	b.path = filepath.Join(dir, "killmatrix.jsonl")
	f, err := os.Open(b.path)
	if errors.Is(err, fs.ErrNotExist) {
		return b
	}
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	scan := bufio.NewScanner(f)
	for scan.Scan() {
		var e entry
		if json.Unmarshal(scan.Bytes(), &e) != nil {
			continue // a line that a stop cut short: its run is done again
		}
		b.runs[e.Cell] = append(b.runs[e.Cell], e.Result)
	}
	require.NoError(t, scan.Err())
	return b
}

func (b *book) count(c cell) int { return len(b.runs[c.String()]) }

// add books a run.
func (b *book) add(t *testing.T, c cell, r crashtest.Result) {
	t.Helper()
	b.runs[c.String()] = append(b.runs[c.String()], r)
	if b.path == "" {
		return
	}
	line, err := json.Marshal(entry{Cell: c.String(), Result: r})
	require.NoError(t, err)
	f, err := os.OpenFile(b.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	_, err = f.Write(append(append([]byte{'\n'}, line...), '\n')) // a line may have been cut short before
	require.NoError(t, errors.Join(err, f.Close()))
}

// results is the table: one line for each cell.
func (b *book) results(all []cell) []crashtest.Result {
	var out []crashtest.Result
	for _, c := range all {
		out = append(out, summary(c, b.runs[c.String()]))
	}
	return out
}
