package tidy_test

import (
	"testing"

	"github.com/weirstream/weir/internal/tidy"
)

func TestMakeTargetsFindsATargetThatDoesNotExist(t *testing.T) {
	t.Parallel()
	checkExamples(t, tidy.MakeTargets, []example{{
		name: "in text and in blocks",
		files: map[string]string{
			"Makefile": "X := 1\ntest: a ## all\n\tgo test\nup:\n",
			"a.md":     "Run `make test` or `make gone FLAG=1`.\n\n```\nmake up\n$ make missing\n```\nWe make money.\n",
		},
		want: []string{
			"a.md:1: make gone is no target of the Makefile",
			"a.md:5: make missing is no target of the Makefile",
		},
	}})
}

func TestCopiedProgramsFindsAProgramThatIsNotTested(t *testing.T) {
	t.Parallel()
	checkExamples(t, tidy.CopiedPrograms, []example{{
		name: "whole programs only",
		files: map[string]string{
			"examples/hello/main.go": "package main\n\nfunc main() {}\n",
			"a.md":                   "```go\npackage main\n\nfunc main() {}\n```\n\n```go\nx := 1\n```\n",
			"b.md":                   "\n```go\npackage main\n\nfunc main() { x() }\n```\n",
		},
		want: []string{"b.md:3: this program is not a file of the module: copy one that is tested"},
	}})
}
