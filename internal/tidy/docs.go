package tidy

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	named   = regexp.MustCompile("`((?:Test|Fuzz|Benchmark|Example)[A-Z][A-Za-z0-9_]*)")
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *#*$`)
	fenced  = regexp.MustCompile("(?ms)^```.*?^```$")
)

// documents returns the Markdown files of the tree without their code blocks,
// whose lines stay so that line numbers hold.
func (t *Tree) documents() map[string]string {
	docs := map[string]string{}
	for name, text := range t.Files {
		if path.Ext(name) == ".md" {
			docs[name] = fenced.ReplaceAllStringFunc(text, func(block string) string {
				return strings.Repeat("\n", strings.Count(block, "\n"))
			})
		}
	}
	return docs
}

// Links holds that every relative link of a document leads to a file or folder
// of the module, and its fragment to a heading there.
func Links(t *Tree) []Fault {
	var faults []Fault
	docs := t.documents()
	for name, text := range docs {
		for i, line := range strings.Split(text, "\n") {
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				if why := t.broken(docs, name, m[1]); why != "" {
					faults = append(faults, Fault{Path: name, Line: i + 1, Text: fmt.Sprintf("link %s: %s", m[1], why)})
				}
			}
		}
	}
	return faults
}

// broken returns why a link in the document from leads nowhere, or "".
func (t *Tree) broken(docs map[string]string, from, target string) string {
	if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		return ""
	}
	file, fragment, _ := strings.Cut(target, "#")
	name := from
	if file != "" {
		name = path.Join(path.Dir(from), file)
	}
	if !t.exists(name) {
		return "no such file"
	}
	if fragment != "" && path.Ext(name) == ".md" && !slices.Contains(anchors(docs[name]), fragment) {
		return "no such heading"
	}
	return ""
}

func (t *Tree) exists(name string) bool {
	if _, ok := t.Files[name]; ok {
		return true
	}
	for f := range t.Files {
		if strings.HasPrefix(f, name+"/") {
			return true
		}
	}
	return false
}

// anchors returns the fragments of a document's headings as code hosts make
// them: lower case, spaces as hyphens, other punctuation dropped.
func anchors(text string) []string {
	var all []string
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		all = append(all, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 127:
				return r
			}
			return -1
		}, strings.ToLower(m[1])))
	}
	return all
}

// NamedTests holds that a test which a document gives as the proof of a claim
// exists. Documents name tests in backticks.
func NamedTests(t *Tree) []Fault {
	exists := map[string]bool{}
	for _, f := range t.Go {
		for _, decl := range f.AST.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && f.Test && fn.Recv == nil {
				exists[fn.Name.Name] = true
			}
		}
	}
	var faults []Fault
	for name, text := range t.documents() {
		for i, line := range strings.Split(text, "\n") {
			for _, m := range named.FindAllStringSubmatch(line, -1) {
				if !exists[m[1]] {
					faults = append(faults, Fault{Path: name, Line: i + 1, Text: "names the test " + m[1] + ", which does not exist"})
				}
			}
		}
	}
	return faults
}
