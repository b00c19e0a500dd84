package crashtest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Cell is one field of a matrix. Its String is what results are kept under.
type Cell interface {
	fmt.Stringer
	// Row is what is done to the application.
	Row() string
	// Column is the way it is done.
	Column() string
}

const (
	// batchSize is how many cells are judged together.
	batchSize = 100
	// partLimit ends a part of a proof in time; the next run goes on from there.
	partLimit = 55 * time.Minute
)

// Rounds is how often each case of a proof is to run: $WEIR_PROOF_ROUNDS, or once.
func Rounds(t testing.TB) int {
	t.Helper()
	env := os.Getenv("WEIR_PROOF_ROUNDS")
	if env == "" {
		return 1
	}
	n, err := strconv.Atoi(env)
	if err != nil || n < 1 {
		t.Fatalf("crashtest: WEIR_PROOF_ROUNDS is %q: want a number from 1", env)
	}
	return n
}

// RunMatrix runs every cell Rounds times, prints the table with the fields that
// there are not, and fails unless each cell counts. play plays some cells and
// gives their results in the same order; one without a Row was left out. With
// $WEIR_PROOF_STATE, a folder, finished runs are not run again.
func RunMatrix[C Cell](t *testing.T, name string, cells []C, none []Result, play func(t *testing.T, batch []C) []Result) {
	t.Helper()
	book, err := openBook(os.Getenv("WEIR_PROOF_STATE"), name)
	if err != nil {
		t.Fatalf("crashtest: %v", err)
	}
	until := time.Now().Add(partLimit)
	var runs []C // still to do, round by round
	for round := 1; round <= Rounds(t); round++ {
		for _, c := range cells {
			if book.count(c) < round {
				runs = append(runs, c)
			}
		}
	}
	t.Logf("%d cells, %d runs to do", len(cells), len(runs))
	for len(runs) > 0 && time.Now().Before(until) {
		n := min(batchSize, len(runs))
		for i, r := range play(t, runs[:n]) {
			if r.Row != "" {
				book.add(t, runs[i], r)
			}
		}
		runs = runs[n:]
	}
	var results []Result
	for _, c := range cells {
		results = append(results, book.summary(c))
	}
	report(t, append(results, none...))
	if len(runs) > 0 {
		t.Errorf("crashtest: %d runs left after %v: run the same command again", len(runs), partLimit)
	}
}

// report prints the table and fails for each cell that does not count.
func report(t *testing.T, results []Result) {
	t.Helper()
	var table strings.Builder
	if err := WriteTable(&table, results); err != nil {
		t.Fatal(err)
	}
	Publish(t, "\n%s", table.String())
	for _, r := range results {
		if r.NotApplicable == "" && !r.Counts() {
			t.Errorf("%s: %s: %s", r.Row, r.Cell, r.Verdict)
		}
	}
}
