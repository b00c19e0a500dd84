package crashtest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// book keeps what the runs of a matrix came to, in a file if there is to be one.
type book struct {
	path string
	runs map[string][]Result // by cell
}

// entry is one line of the file.
type entry struct {
	Cell   string
	Result Result
}

// openBook reads the results of earlier parts from the file of a matrix in a
// folder; an empty folder: there are none, and none are kept.
func openBook(dir, matrix string) (*book, error) {
	b := &book{runs: map[string][]Result{}}
	if dir == "" {
		return b, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	b.path = filepath.Join(dir, matrix+".jsonl")
	f, err := os.Open(b.path)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err != nil {
		return nil, err
	}
	scan := bufio.NewScanner(f)
	for scan.Scan() {
		var e entry
		if json.Unmarshal(scan.Bytes(), &e) != nil {
			continue // a line that a stop cut short: its run is done again
		}
		b.runs[e.Cell] = append(b.runs[e.Cell], e.Result)
	}
	return b, errors.Join(scan.Err(), f.Close())
}

// count is how often a cell has run.
func (b *book) count(c Cell) int { return len(b.runs[c.String()]) }

// add books a run.
func (b *book) add(t testing.TB, c Cell, r Result) {
	t.Helper()
	b.runs[c.String()] = append(b.runs[c.String()], r)
	if b.path == "" {
		return
	}
	if err := b.write(entry{Cell: c.String(), Result: r}); err != nil {
		t.Errorf("crashtest: a result cannot be kept: %v", err)
	}
}

func (b *book) write(e entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(b.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(append([]byte{'\n'}, line...), '\n')) // a line may have been cut short before
	return errors.Join(err, f.Close())
}

// summary is what the runs of one cell come to.
func (b *book) summary(c Cell) Result {
	runs := b.runs[c.String()]
	out := Result{Row: c.Row(), Cell: c.Column(), Verdict: "not run"}
	hit, clean, first := 0, 0, ""
	for _, r := range runs {
		out.Took += r.Took / time.Duration(len(runs))
		out.Verdict = r.Verdict
		if r.Hit {
			hit++
		}
		if r.Clean {
			clean++
		} else if first == "" {
			first = "; first not clean: " + r.Verdict
		}
	}
	out.Hit, out.Clean = hit == len(runs) && hit > 0, clean == len(runs) && clean > 0
	if len(runs) > 1 {
		out.Verdict = fmt.Sprintf("%d runs: %d hit, %d clean%s", len(runs), hit, clean, first)
	}
	return out
}
