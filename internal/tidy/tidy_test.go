package tidy_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/internal/tidy"
)

var rules = []struct {
	name  string
	check func(*tidy.Tree) []tidy.Fault
}{
	{"imports", tidy.Imports},
	{"test framework", tidy.TestFramework},
	{"linked", tidy.Linked},
	{"sizes", tidy.Sizes},
	{"machine paths", tidy.MachinePaths},
	{"package comments", tidy.PackageComments},
	{"exported comments", tidy.ExportedComments},
	{"sleeps", tidy.Sleeps},
	{"skips", tidy.Skips},
	{"contexts", tidy.Contexts},
	{"inits", tidy.Inits},
	{"links", tidy.Links},
	{"named tests", tidy.NamedTests},
	{"dependencies", tidy.Dependencies},
	{"compose", tidy.Compose},
	{"unfinished", tidy.Unfinished},
	{"package names", tidy.PackageNames},
	{"make targets", tidy.MakeTargets},
	{"copied programs", tidy.CopiedPrograms},
}

func TestTheModuleKeepsEveryRule(t *testing.T) {
	t.Parallel()
	module := loadModule(t)
	require.Contains(t, module.Files, "go.mod")
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, lines(rule.check(module)))
		})
	}
}

func loadModule(t *testing.T) *tidy.Tree {
	t.Helper()
	tree, err := tidy.Load(os.DirFS("../.."))
	require.NoError(t, err)
	return tree
}

// load makes a tree of a small example. An example in Go needs a package clause
// only where the rule does not look at comments.
func load(t *testing.T, files map[string]string) *tidy.Tree {
	t.Helper()
	memory := fstest.MapFS{}
	for name, text := range files {
		memory[name] = &fstest.MapFile{Data: []byte(text)}
	}
	tree, err := tidy.Load(memory)
	require.NoError(t, err)
	return tree
}

// lines prints faults one a line in a fixed order.
func lines(faults []tidy.Fault) string {
	var all []string
	for _, f := range faults {
		all = append(all, f.String())
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// example is a small tree and the faults that a rule must find in it, sorted.
type example struct {
	name  string
	files map[string]string
	want  []string
}

func checkExamples(t *testing.T, check func(*tidy.Tree) []tidy.Fault, examples []example) {
	t.Helper()
	for _, ex := range examples {
		t.Run(ex.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, strings.Join(ex.want, "\n"), lines(check(load(t, ex.files))))
		})
	}
}

func TestLoadLeavesOutWhatGitDoesNotKeep(t *testing.T) {
	t.Parallel()
	tree := load(t, map[string]string{
		".tmp/bin/x.go":    "not Go",
		".git/config":      "",
		"weir":             "a program",
		"cmd/weir/main.go": "package main",
		"eos.test":         "a program",
	})
	require.Len(t, tree.Files, 1)
	require.Contains(t, tree.Files, "cmd/weir/main.go")
}

func TestLoadFailsOnGoThatDoesNotParse(t *testing.T) {
	t.Parallel()
	_, err := tidy.Load(fstest.MapFS{"a.go": {Data: []byte("package")}})
	require.ErrorContains(t, err, "a.go:1:8")
}
