package tidy

import (
	"go/ast"
	"regexp"
	"slices"
)

// excused matches the one form in which a line may break a rule on calls; the
// linter of the same rule asks for the reason, too.
var excused = regexp.MustCompile(`//nolint:forbidigo // \S+`)

// eachCall calls fn for every call of a function selected from a plain name,
// such as time.Sleep(d) or t.Skip().
func (f *GoFile) eachCall(fn func(call *ast.CallExpr, on, name string)) {
	ast.Inspect(f.AST, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
			if on, ok := sel.X.(*ast.Ident); ok {
				fn(call, on.Name, sel.Sel.Name)
			}
		}
		return true
	})
}

// Sleeps holds that tests wait for what they need, not for time to pass. In a
// file that tests on virtual time a sleep takes none: there it may stand, with
// its reason.
func Sleeps(t *Tree) []Fault {
	var faults []Fault
	for _, f := range t.Go {
		if !f.Test && !testHelper(f.Dir) {
			continue
		}
		_, virtual := f.imports()["testing/synctest"]
		f.eachCall(func(call *ast.CallExpr, on, name string) {
			if on == "time" && name == "Sleep" && (!virtual || !excused.MatchString(t.lineOf(f, call.Pos()))) {
				faults = append(faults, t.fault(call.Pos(), "time.Sleep in a test: wait for the event, with a deadline"))
			}
		})
	}
	return faults
}

// Skips holds that no test skips itself: what it needs is set up or missing is a
// failure. testing.Short would be another way to skip.
func Skips(t *Tree) []Fault {
	var faults []Fault
	for _, f := range t.Go {
		if !f.Test && !testHelper(f.Dir) {
			continue
		}
		f.eachCall(func(call *ast.CallExpr, on, name string) {
			skips := slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, name) &&
				slices.Contains([]string{"t", "tb", "b", "f", "s"}, on)
			if skips || on == "testing" && name == "Short" {
				faults = append(faults, t.fault(call.Pos(), "%s.%s: a test runs or fails", on, name))
			}
		})
	}
	return faults
}

// Contexts holds that libraries take the context of their caller. A line that
// has to start one of its own says why, after nolint:forbidigo.
func Contexts(t *Tree) []Fault {
	var faults []Fault
	for _, f := range t.Go {
		if f.Test || testHelper(f.Dir) || program(f.Dir) || f.AST.Name.Name == "main" {
			continue
		}
		f.eachCall(func(call *ast.CallExpr, on, name string) {
			if on != "context" || name != "Background" && name != "TODO" {
				return
			}
			if !excused.MatchString(t.lineOf(f, call.Pos())) {
				faults = append(faults, t.fault(call.Pos(), "context.%s in a library: take the caller's, or give the reason on this line after //nolint:forbidigo //", name))
			}
		})
	}
	return faults
}

// Inits holds that importing a package does nothing.
func Inits(t *Tree) []Fault {
	var faults []Fault
	for _, f := range t.Go {
		for _, decl := range f.AST.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				faults = append(faults, t.fault(fn.Pos(), "init runs on import: make it a function that is called"))
			}
		}
	}
	return faults
}
