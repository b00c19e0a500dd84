package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// phase is what one file of events amounts to. Subtests count as tests.
type phase struct {
	name     string
	packages int
	passed   int
	failed   []string // "package Test", or the package alone when it has no failed test
	skipped  []string // "package Test"
	elapsed  time.Duration
}

// event is the part of a `go test -json` event that decides a count; see
// `go doc test2json`.
type event struct {
	Time    time.Time
	Action  string
	Package string
	Test    string
}

func readPhase(name string) (phase, error) {
	events, err := os.ReadFile(name)
	if err != nil {
		return phase{}, err
	}
	p, err := count(bytes.NewReader(events))
	if err != nil {
		return phase{}, fmt.Errorf("%s: %w", name, err)
	}
	p.name = strings.TrimSuffix(filepath.Base(name), ".json")
	return p, nil
}

// count reads events until r ends. A package that failed without a failed test
// (it did not build, or its process died) is a failure of its own, and so is a
// test that began and never ended.
func count(r io.Reader) (phase, error) {
	var p phase
	var first, last time.Time
	running := map[string]string{} // "package Test" -> package
	blamed := map[string]bool{}    // packages with a failed test
	var fallen []string
	for dec := json.NewDecoder(r); ; {
		var e event
		if err := dec.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return phase{}, fmt.Errorf("event %d bytes in: %w", dec.InputOffset(), err)
		}
		if first.IsZero() {
			first = e.Time
		}
		if !e.Time.IsZero() {
			last = e.Time
		}
		if e.Test == "" {
			switch e.Action {
			case "pass":
				p.packages++
			case "fail":
				p.packages++
				fallen = append(fallen, e.Package)
			}
			continue
		}
		id := e.Package + " " + e.Test
		switch e.Action {
		case "run":
			running[id] = e.Package
		case "pass":
			p.passed++
			delete(running, id)
		case "fail":
			p.failed = append(p.failed, id)
			blamed[e.Package] = true
			delete(running, id)
		case "skip":
			p.skipped = append(p.skipped, id)
			delete(running, id)
		}
	}
	for id, pkg := range running {
		p.failed = append(p.failed, id+" (never ended)")
		blamed[pkg] = true
	}
	for _, pkg := range fallen {
		if !blamed[pkg] {
			p.failed = append(p.failed, pkg)
		}
	}
	p.elapsed = last.Sub(first)
	return p, nil
}

// report prints one line per phase and the totals, and returns an error unless
// every phase ran a test and all passed.
func report(w io.Writer, phases []phase) error {
	var passed, failed, skipped int
	var faults []string
	fmt.Fprintf(w, "%-18s %9s %7s %7s %8s %8s\n", "phase", "packages", "passed", "failed", "skipped", "seconds")
	for _, p := range phases {
		fmt.Fprintf(w, "%-18s %9d %7d %7d %8d %8.1f\n",
			p.name, p.packages, p.passed, len(p.failed), len(p.skipped), p.elapsed.Seconds())
		for _, id := range p.failed {
			faults = append(faults, "failed: "+id)
		}
		for _, id := range p.skipped {
			faults = append(faults, "skipped: "+id)
		}
		if p.passed+len(p.failed)+len(p.skipped) == 0 {
			faults = append(faults, "no test ran in phase "+p.name)
		}
		passed, failed, skipped = passed+p.passed, failed+len(p.failed), skipped+len(p.skipped)
	}
	if len(phases) == 0 {
		faults = append(faults, "no phase ran")
	}
	fmt.Fprintf(w, "%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	if len(faults) > 0 {
		return errors.New(strings.Join(faults, "\n"))
	}
	return nil
}
