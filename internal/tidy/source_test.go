package tidy_test

import (
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/tidy"
)

func TestSizesFindsLongFilesAndFunctions(t *testing.T) {
	t.Parallel()
	function := func(inner int) string { return "func long() {" + strings.Repeat("\n", inner) + "\n}" }
	checkExamples(t, tidy.Sizes, []example{
		{name: "at the limit", files: map[string]string{"a.go": "package a\n" + function(68), "b.go": "package a" + strings.Repeat("\n//", 799) + "\n"}},
		{
			name:  "above",
			files: map[string]string{"a_test.go": "package a\n" + function(69), "b.go": "package a" + strings.Repeat("\n//", 800)},
			want:  []string{"a_test.go:2: long has 71 lines, at most 70: name its parts", "b.go: 801 lines, at most 800: split it by what it does"},
		},
	})
}

func TestMachinePathsFindsAFolderOfOneMachine(t *testing.T) {
	t.Parallel()
	checkExamples(t, tidy.MachinePaths, []example{{
		name:  "found",
		files: map[string]string{"Makefile": "all:\n\tcp x /" + "root/y\n", "docs/a.md": "see framework/a"},
		want:  []string{"Makefile:2: path /" + "root/ exists on one machine only"},
	}})
}

func TestPackageCommentsFindsAPackageWithout(t *testing.T) {
	t.Parallel()
	checkExamples(t, tidy.PackageComments, []example{{
		name: "one file of a package has it",
		files: map[string]string{
			"a/a.go":          "// Package a is documented.\npackage a",
			"a/b.go":          "package a",
			"internal/b/b.go": "// no comment of the package\n\npackage b",
			"c/c_test.go":     "package c_test",
		},
		want: []string{"internal/b/b.go:3: package b has no package comment"},
	}})
}

func TestExportedCommentsFindsNamesWithout(t *testing.T) {
	t.Parallel()
	checkExamples(t, tidy.ExportedComments, []example{
		{
			name: "documented or not public",
			files: map[string]string{
				"a/a.go": "package a\n// Fn is.\nfunc Fn() {}\n// T is.\ntype T struct{ F int }\n// I does.\ntype I interface{ Do() }\n" +
					"type hidden struct{ X int }\nfunc (hidden) String() string { return \"\" }\n// Both are.\nconst (\n\tA = 1\n\tB = 2\n)\n",
				"internal/b/b.go": "package b\nfunc Fn() {}\n",
				"cmd/c/c.go":      "package main\nfunc Fn() {}\n",
			},
		},
		{
			name: "each kind of name",
			files: map[string]string{
				"a/a.go": "package a\nfunc Fn() {}\ntype T struct{}\nfunc (*T) M() {}\nvar V = 1\n// I is.\ntype I interface {\n\tM()\n\tN() // too\n}\n",
			},
			want: []string{
				"a/a.go:2: Fn is exported and has no doc comment",
				"a/a.go:3: T is exported and has no doc comment",
				"a/a.go:4: M is exported and has no doc comment",
				"a/a.go:5: V is exported and has no doc comment",
				"a/a.go:8: I.M is exported and has no doc comment",
			},
		},
	})
}
