package crashtest

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// Result is one cell of a matrix.
type Result struct {
	Row  string // what is done to the application, e.g. a point
	Cell string // the way, e.g. "restart, 3 lanes"
	// NotApplicable is the reason why there is no such cell; the rest is empty.
	NotApplicable string
	// Hit is true if the worker said that it stood at the point.
	Hit bool
	// Verdict is the run's verdict in one line, or why there is none.
	Verdict string
	// Clean is true if the verdict is.
	Clean bool
	Took  time.Duration
}

// Counts is true for a cell that proves something: its point was hit and its
// verdict is clean.
func (r Result) Counts() bool { return r.NotApplicable == "" && r.Hit && r.Clean }

// WriteTable prints the results, one a line, and below them how many cells
// count, how many do not, and how many are not applicable.
func WriteTable(w io.Writer, results []Result) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(tw, "row\tcell\thit\tseconds\tverdict")
	var good, bad, none int
	for _, r := range results {
		switch {
		case r.NotApplicable != "":
			none++
			_, _ = fmt.Fprintf(tw, "%s\t%s\t-\t-\tnot applicable: %s\n", r.Row, r.Cell, r.NotApplicable)
			continue
		case r.Counts():
			good++
		default:
			bad++
		}
		hit := "no"
		if r.Hit {
			hit = "yes"
		}
		_, _ = fmt.Fprintf(tw, "%s\t%s\t%s\t%.1f\t%s\n", r.Row, r.Cell, hit, r.Took.Seconds(), r.Verdict)
	}
	if err := tw.Flush(); err != nil { // tabwriter writes here only
		return fmt.Errorf("crashtest: table: %w", err)
	}
	if _, err := fmt.Fprintf(w, "%d cells hit and clean, %d not, %d not applicable\n", good, bad, none); err != nil {
		return fmt.Errorf("crashtest: table: %w", err)
	}
	return nil
}
