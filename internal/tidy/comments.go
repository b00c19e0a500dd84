package tidy

import (
	"go/ast"
	"strings"
)

// PackageComments holds that every package says what it is for, internal ones
// and programs included.
func PackageComments(t *Tree) []Fault {
	documented := map[string]bool{}
	first := map[string]*GoFile{}
	for _, f := range t.Go {
		if f.Test || strings.Contains(f.Path, "testdata/") {
			continue
		}
		if first[f.Dir] == nil {
			first[f.Dir] = f
		}
		if f.AST.Doc != nil {
			documented[f.Dir] = true
		}
	}
	var faults []Fault
	for dir, f := range first {
		if !documented[dir] {
			faults = append(faults, t.fault(f.AST.Package, "package %s has no package comment", f.AST.Name.Name))
		}
	}
	return faults
}

// ExportedComments holds that every exported name of a public package has a doc
// comment: functions, types and their methods, constants and variables. The
// comment of a group stands for its members. Fields are left to the reviewer:
// a comment on each Key and Value would say nothing.
func ExportedComments(t *Tree) []Fault {
	var faults []Fault
	for _, f := range t.Go {
		if f.Test || below(f.Dir, "internal") || f.AST.Name.Name == "main" {
			continue
		}
		for _, decl := range f.AST.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Doc == nil && d.Name.IsExported() && exportedReceiver(d) {
					faults = append(faults, t.fault(d.Pos(), "%s is exported and has no doc comment", d.Name.Name))
				}
			case *ast.GenDecl:
				faults = append(faults, t.undocumented(d)...)
			}
		}
	}
	return faults
}

// exportedReceiver is true for functions, and for methods of exported types:
// those of others cannot be read in the documentation.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	name := ""
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return ast.IsExported(name)
}

func (t *Tree) undocumented(d *ast.GenDecl) []Fault {
	var faults []Fault
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if !s.Name.IsExported() {
				continue
			}
			if s.Doc == nil && d.Doc == nil {
				faults = append(faults, t.fault(s.Pos(), "%s is exported and has no doc comment", s.Name.Name))
			}
			faults = append(faults, t.undocumentedMethods(s)...)
		case *ast.ValueSpec:
			for _, name := range s.Names {
				if name.IsExported() && s.Doc == nil && s.Comment == nil && d.Doc == nil {
					faults = append(faults, t.fault(name.Pos(), "%s is exported and has no doc comment", name.Name))
				}
			}
		}
	}
	return faults
}

// undocumentedMethods looks at an interface of more than one method. The comment
// of an interface of one says what that one does.
func (t *Tree) undocumentedMethods(s *ast.TypeSpec) []Fault {
	typ, ok := s.Type.(*ast.InterfaceType)
	if !ok || typ.Methods.NumFields() < 2 {
		return nil
	}
	var faults []Fault
	for _, method := range typ.Methods.List {
		for _, name := range method.Names {
			if name.IsExported() && method.Doc == nil && method.Comment == nil {
				faults = append(faults, t.fault(name.Pos(), "%s.%s is exported and has no doc comment", s.Name.Name, name.Name))
			}
		}
	}
	return faults
}
