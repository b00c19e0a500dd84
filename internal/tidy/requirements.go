package tidy

import (
	"fmt"
	"regexp"
	"strings"
)

const dependenciesDoc = "docs/dependencies.md"

var (
	requirement = regexp.MustCompile(`^(?:require )?\t?([a-z0-9.-]+\.[a-z]+/\S+) v\S+$`)
	explained   = regexp.MustCompile("(?m)^\\| *`([^`]+)` *\\|")
)

// Dependencies holds that docs/dependencies.md has one line for each direct
// requirement of go.mod and for no other module.
func Dependencies(t *Tree) []Fault {
	direct := map[string]int{}
	for i, line := range strings.Split(t.Files["go.mod"], "\n") {
		if m := requirement.FindStringSubmatch(line); m != nil {
			direct[m[1]] = i + 1
		}
	}
	var faults []Fault
	lines := map[string]int{}
	for _, m := range explained.FindAllStringSubmatch(t.Files[dependenciesDoc], -1) {
		lines[m[1]]++
		if direct[m[1]] == 0 {
			faults = append(faults, Fault{Path: dependenciesDoc, Text: m[1] + " is not a direct requirement of go.mod: remove its line"})
		}
	}
	for module, line := range direct {
		if n := lines[module]; n != 1 {
			faults = append(faults, Fault{
				Path: "go.mod", Line: line,
				Text: fmt.Sprintf("%s has %d lines in %s, it takes one that says why it is here and which alternative lost", module, n, dependenciesDoc),
			})
		}
		if !t.imported(module) {
			faults = append(faults, Fault{Path: "go.mod", Line: line, Text: "no file imports " + module + ": remove it"})
		}
	}
	return faults
}

// imported says whether any file imports a package of the module.
func (t *Tree) imported(module string) bool {
	for _, f := range t.Go {
		for imp := range f.imports() {
			if below(imp, module) {
				return true
			}
		}
	}
	return false
}
