// Command testcount counts the tests in files of `go test -json` events and
// fails when one failed, when one was skipped, or when there was none: a
// skipped test is a promise that nobody checked.
//
//	testcount [-since FILE] EVENTS.json...
//
// Each file is one phase of the run and one line of the printed table. With
// -since, FILE holds the Unix second at which the run began, and the last lines
// say how long it took.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	since := flag.String("since", "", "file with the Unix second at which the run began")
	flag.Parse()
	if err := run(os.Stdout, *since, flag.Args(), time.Now()); err != nil {
		fmt.Fprintln(os.Stderr, "testcount:", err)
		os.Exit(1)
	}
}

// run prints the table for the event files and returns why the run must not
// pass, if so. now ends the elapsed time whose start the file since holds.
func run(w io.Writer, since string, files []string, now time.Time) error {
	phases := make([]phase, 0, len(files))
	for _, name := range files {
		p, err := readPhase(name)
		if err != nil {
			return err
		}
		phases = append(phases, p)
	}
	if since != "" {
		raw, err := os.ReadFile(since)
		if err != nil {
			return fmt.Errorf("start of the run: %w", err)
		}
		second, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
		if err != nil {
			return fmt.Errorf("start of the run in %s: %w", since, err)
		}
		elapsed := now.Sub(time.Unix(second, 0)).Round(time.Second)
		defer fmt.Fprintf(w, "elapsed %v, set-up not included\n", elapsed)
	}
	return report(w, phases)
}
