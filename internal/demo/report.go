package demo

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
)

// Report is the outcome of a run.
type Report struct {
	Weir, Plain Count
	// Kills is how many times a living worker of both fleets was killed.
	Kills int
	// Hidden is the number of records of aborted transactions in the output
	// log of the weir workers.
	Hidden int
	// Committed, Aborted and Unknown are transactions as workers reported them
	// while they lived.
	Committed, Aborted, Unknown int
}

// Verdict is nil if the demo showed what it is for: at least 5 kills, every
// output of the weir workers there once and in order, and duplicates in the
// plain loop. Otherwise it says what is missing.
func (r Report) Verdict() error {
	switch {
	case r.Weir.Inputs == 0:
		return errors.New("demonstrated nothing: no record was written")
	case !r.Weir.Clean():
		return fmt.Errorf("weir failed: %d duplicates, %d losses, %d out of order, %d wrong in %d outputs of %d inputs",
			r.Weir.Duplicates, r.Weir.Losses, r.Weir.Reordered, r.Weir.Wrong, r.Weir.Outputs, r.Weir.Inputs)
	case r.Kills < minKills:
		return fmt.Errorf("demonstrated nothing: %d kills, at least %d are needed; try another --seed", r.Kills, minKills)
	case r.Plain.Duplicates == 0:
		return fmt.Errorf("demonstrated nothing: %d kills caused no duplicate in the plain loop; try another --seed or a higher --rate", r.Kills)
	}
	return nil
}

// print writes the table and, if it is good, what it shows.
func (r Report) print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	row := func(name, weir, plain string) { fmt.Fprintf(t, "%s\t%s\t%s\t\n", pad(name), weir, plain) }
	num := strconv.Itoa
	fmt.Fprintln(w)
	row("", "weir", "plain loop")
	row("input records", num(r.Weir.Inputs), num(r.Plain.Inputs))
	row("output records", num(r.Weir.Outputs), num(r.Plain.Outputs))
	row("duplicates", num(r.Weir.Duplicates), num(r.Plain.Duplicates))
	row("losses", num(r.Weir.Losses), num(r.Plain.Losses))
	row("out of order", num(r.Weir.Reordered), num(r.Plain.Reordered))
	row("wrong key or content", num(r.Weir.Wrong), num(r.Plain.Wrong))
	row("SIGKILLs", num(r.Kills), num(r.Kills))
	row("transactions committed (1)", num(r.Committed), "-")
	row("transactions aborted (1)", num(r.Aborted), "-")
	row("transactions unknown (1)", num(r.Unknown), "-")
	row("outputs of aborted transactions (2)", num(r.Hidden), "-")
	_ = t.Flush()
	fmt.Fprint(w, `(1) as far as workers told before they were killed: a transaction that a kill cut
    short is in no row; the worker that comes next has it aborted
(2) in the log, and invisible to every read_committed reader
Everything else is counted in the output topics by a read_committed reader of its own.
`)
	if r.Verdict() == nil {
		fmt.Fprintf(w, "\n%d kills: weir lost and doubled nothing, the plain loop wrote %d records too many\n", r.Kills, r.Plain.Duplicates)
	}
}

// pad makes the names of the rows flush left in a table that is flush right.
func pad(name string) string { return fmt.Sprintf("%-36s", name) }
