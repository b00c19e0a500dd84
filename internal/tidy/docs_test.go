package tidy_test

import (
	"testing"

	"github.com/weirstream/weir/internal/tidy"
)

func TestLinksFindsLinksThatLeadNowhere(t *testing.T) {
	t.Parallel()
	checkExamples(t, tidy.Links, []example{{
		name: "files, folders and headings",
		files: map[string]string{
			"README.md":        "[a](docs/a.md) [b](docs/) [c](docs/a.md#two-words) [d](https://example.org/x) [e](#here)\n# Here\n```\n[x](gone.md)\n```\n",
			"docs/a.md":        "# Two `words`\n[up](../README.md) [gone](b.md)\n[gone](#three)\n",
			"docs/adr/0001.md": "[gone](a.md)\n",
		},
		want: []string{
			"docs/a.md:2: link b.md: no such file",
			"docs/a.md:3: link #three: no such heading",
			"docs/adr/0001.md:1: link a.md: no such file",
		},
	}})
}

func TestNamedTestsFindsATestThatDoesNotExist(t *testing.T) {
	t.Parallel()
	checkExamples(t, tidy.NamedTests, []example{{
		name: "with and without a subtest",
		files: map[string]string{
			"docs/a.md":     "Held by `TestThere` and `TestThere/case`.\nHeld by `TestGone/case` and `FuzzGone`.\n",
			"eos/a_test.go": "package eos\nfunc TestThere() {}\n",
			"eos/a.go":      "package eos\nfunc FuzzGone() {}\n",
		},
		want: []string{
			"docs/a.md:2: names the test FuzzGone, which does not exist",
			"docs/a.md:2: names the test TestGone, which does not exist",
		},
	}})
}

func TestDependenciesComparesTheDocumentWithGoMod(t *testing.T) {
	t.Parallel()
	goMod := "module m\n\ngo 1.26.8\n\nrequire (\n\ta.org/one v1.0.0\n\tb.org/two v1.0.0\n)\n\nrequire (\n\tc.org/three v1.0.0 // indirect\n)\n"
	checkExamples(t, tidy.Dependencies, []example{
		{
			name: "equal",
			files: map[string]string{
				"go.mod": goMod, "docs/dependencies.md": "| `a.org/one` | why |\n| `b.org/two` | why |\n",
				"a.go": `package a; import ("a.org/one/sub"; "b.org/two")`,
			},
		},
		{
			name: "unequal",
			files: map[string]string{
				"go.mod": goMod, "docs/dependencies.md": "| `a.org/one` | why |\n| `c.org/three` | why |\n",
				"a.go": `package a; import "b.org/two"`,
			},
			want: []string{
				"docs/dependencies.md: c.org/three is not a direct requirement of go.mod: remove its line",
				"go.mod:6: no file imports a.org/one: remove it",
				"go.mod:7: b.org/two has 0 lines in docs/dependencies.md, it takes one that says why it is here and which alternative lost",
			},
		},
	})
}
