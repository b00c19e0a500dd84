package tidy

import (
	"path"
	"regexp"
	"strings"
)

var (
	makeUse    = regexp.MustCompile("`make ([a-z-]+)|(?m)^(?:\\$ )?make ([a-z-]+)")
	makeTarget = regexp.MustCompile(`(?m)^([a-z-]+):(?:[^=]|$)`)
	goBlock    = regexp.MustCompile("(?ms)^```go\n(package .*?)^```$")
)

// MakeTargets holds that a make target which a document tells the reader to run
// exists.
func MakeTargets(t *Tree) []Fault {
	exists := map[string]bool{}
	for _, m := range makeTarget.FindAllStringSubmatch(t.Files["Makefile"], -1) {
		exists[m[1]] = true
	}
	var faults []Fault
	for name, text := range t.Files {
		if path.Ext(name) != ".md" {
			continue
		}
		for _, m := range makeUse.FindAllStringSubmatchIndex(text, -1) {
			from, to := max(m[2], m[4]), max(m[3], m[5])
			if target := text[from:to]; !exists[target] {
				line := 1 + strings.Count(text[:from], "\n")
				faults = append(faults, Fault{Path: name, Line: line, Text: "make " + target + " is no target of the Makefile"})
			}
		}
	}
	return faults
}

// CopiedPrograms holds that a whole program shown in a document is a file of
// the module, character by character, so that the tests compile what is shown.
func CopiedPrograms(t *Tree) []Fault {
	files := map[string]bool{}
	for _, f := range t.Go {
		files[strings.TrimSpace(t.Files[f.Path])] = true
	}
	var faults []Fault
	for name, text := range t.Files {
		if path.Ext(name) != ".md" {
			continue
		}
		for _, m := range goBlock.FindAllStringSubmatchIndex(text, -1) {
			if !files[strings.TrimSpace(text[m[2]:m[3]])] {
				line := 1 + strings.Count(text[:m[2]], "\n")
				faults = append(faults, Fault{Path: name, Line: line, Text: "this program is not a file of the module: copy one that is tested"})
			}
		}
	}
	return faults
}
