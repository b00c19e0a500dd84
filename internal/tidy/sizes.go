package tidy

import (
	"fmt"
	"go/ast"
	"strings"
)

// Limits in lines. They hold for tests, too.
const (
	maxFileLines = 800
	maxFuncLines = 70
)

// Sizes holds that Go files and functions fit a reader's head.
func Sizes(t *Tree) []Fault {
	var faults []Fault
	for _, f := range t.Go {
		if n := len(strings.Split(strings.TrimSuffix(t.Files[f.Path], "\n"), "\n")); n > maxFileLines {
			faults = append(faults, Fault{Path: f.Path, Text: fmt.Sprintf("%d lines, at most %d: split it by what it does", n, maxFileLines)})
		}
		for _, decl := range f.AST.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			from, to := t.fset.Position(fn.Pos()).Line, t.fset.Position(fn.End()).Line
			if n := to - from + 1; n > maxFuncLines {
				faults = append(faults, t.fault(fn.Pos(), "%s has %d lines, at most %d: name its parts", fn.Name.Name, n, maxFuncLines))
			}
		}
	}
	return faults
}

// machinePaths are the starts of paths that exist on one machine only. They are
// put together here so that this file does not hold them itself.
var machinePaths = []string{"/" + "work/", "/" + "root/", "/" + "farm/"}

// MachinePaths holds that no file names a folder of the machine that it was
// written on.
func MachinePaths(t *Tree) []Fault {
	var faults []Fault
	for name, text := range t.Files {
		for i, line := range strings.Split(text, "\n") {
			for _, p := range machinePaths {
				if strings.Contains(line, p) {
					faults = append(faults, Fault{Path: name, Line: i + 1, Text: "path " + p + " exists on one machine only"})
				}
			}
		}
	}
	return faults
}
