package tidy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// Module is the path of the module that a [Tree] holds.
const Module = "github.com/weirstream/weir"

// Tree is the text of a module: its files by slash-separated path below the
// root, and the parsed form of those in Go. It is immutable once loaded.
type Tree struct {
	Files map[string]string
	Go    []*GoFile // in the order of their paths
	fset  *token.FileSet
}

// GoFile is one parsed Go file.
type GoFile struct {
	Path string // below the root, such as eos/lane.go
	Dir  string // folder of Path; "." at the root
	Test bool   // named *_test.go
	AST  *ast.File
	text []string
}

// Fault is one breach of a rule.
type Fault struct {
	Path string
	Line int    // from 1; 0 when the fault is not on one line
	Text string // what is wrong and what to do
}

// String returns the fault as path:line: text.
func (f Fault) String() string {
	if f.Line == 0 {
		return f.Path + ": " + f.Text
	}
	return fmt.Sprintf("%s:%d: %s", f.Path, f.Line, f.Text)
}

// notOurs matches what git does not keep: see .gitignore.
var notOurs = regexp.MustCompile(`^(\.git|\.tmp|weir)$|\.(test|prof)$`)

// Load reads every file that belongs to the module, and parses those in Go. A
// file that does not parse is an error: no rule can be held on half a tree.
func Load(root fs.FS) (*Tree, error) {
	t := &Tree{Files: map[string]string{}, fset: token.NewFileSet()}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if notOurs.MatchString(name) {
				return fs.SkipDir
			}
			return nil
		}
		if notOurs.MatchString(name) || !d.Type().IsRegular() {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		t.Files[name] = string(text)
		if path.Ext(name) != ".go" {
			return nil
		}
		return t.parse(name, string(text))
	})
	if err != nil {
		return nil, fmt.Errorf("tidy: load: %w", err)
	}
	return t, nil
}

func (t *Tree) parse(name, text string) error {
	file, err := parser.ParseFile(t.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	t.Go = append(t.Go, &GoFile{
		Path: name,
		Dir:  path.Dir(name),
		Test: strings.HasSuffix(name, "_test.go"),
		AST:  file,
		text: strings.Split(text, "\n"),
	})
	return nil
}

// fault returns a fault at the line of pos.
func (t *Tree) fault(pos token.Pos, format string, args ...any) Fault {
	p := t.fset.Position(pos)
	return Fault{Path: p.Filename, Line: p.Line, Text: fmt.Sprintf(format, args...)}
}

// lineOf returns the text of the line that pos is on.
func (t *Tree) lineOf(f *GoFile, pos token.Pos) string {
	return f.text[t.fset.Position(pos).Line-1]
}

// imports returns the import path of every import of f with its position.
func (f *GoFile) imports() map[string]token.Pos {
	paths := make(map[string]token.Pos, len(f.AST.Imports))
	for _, spec := range f.AST.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths[p] = spec.Pos()
		}
	}
	return paths
}

// local returns the folder of an import of this module.
func local(importPath string) (dir string, ok bool) {
	if importPath == Module {
		return ".", true
	}
	return strings.CutPrefix(importPath, Module+"/")
}

// standard says whether an import path is of the standard library: its first
// element has no dot.
func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

// below says whether dir is root or a folder in it.
func below(dir, root string) bool {
	return dir == root || strings.HasPrefix(dir, root+"/")
}

// testHelper says whether the package in dir exists for tests only, and may
// therefore use the test framework outside of _test.go files.
func testHelper(dir string) bool {
	return strings.HasSuffix(path.Base(dir), "test") || below(dir, "internal/tidy")
}

// program says whether dir holds commands or examples rather than a library.
func program(dir string) bool {
	return below(dir, "cmd") || below(dir, "examples")
}
