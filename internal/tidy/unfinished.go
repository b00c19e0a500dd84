package tidy

import (
	"path"
	"regexp"
	"slices"
)

var (
	unfinished = regexp.MustCompile(`\b(TODO|FIXME|XXX)\b`)
	// vague are package names that say where code was put, not what it does.
	vague = []string{"util", "utils", "common", "helper", "helpers", "misc", "pkg", "shared", "base"}
)

// Unfinished holds that no comment leaves work for later: what is missing
// belongs into the tracker, where somebody looks.
func Unfinished(t *Tree) []Fault {
	var faults []Fault
	for _, f := range t.Go {
		for _, group := range f.AST.Comments {
			for _, c := range group.List {
				if m := unfinished.FindString(c.Text); m != "" {
					faults = append(faults, t.fault(c.Pos(), "%s in a comment: finish it or take it to the tracker", m))
				}
			}
		}
	}
	return faults
}

// PackageNames holds that a package is named for what it does.
func PackageNames(t *Tree) []Fault {
	var faults []Fault
	seen := map[string]bool{}
	for _, f := range t.Go {
		if !seen[f.Dir] && slices.Contains(vague, path.Base(f.Dir)) {
			seen[f.Dir] = true
			faults = append(faults, Fault{Path: f.Dir, Text: "name the package for what it does"})
		}
	}
	return faults
}
