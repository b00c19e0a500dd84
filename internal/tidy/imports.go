package tidy

import (
	"path"
	"slices"
	"strings"
)

// layer says what a part of the module may import. The directions are
//
//	cmd, examples -> processor -> {topology, eos, eos/guard} -> standard library
//
// A sink in a folder below eos/guard may have the client of its receiver.
type layer struct {
	root string
	// local lists the parts of this module that the layer may import beside
	// itself. Internal packages stand for themselves and are listed by name.
	local []string
	// modules lists the prefixes of other modules' packages; nil means none,
	// "*" any.
	modules []string
}

// layers is ordered: the first whose root holds a package decides.
var layers = []layer{
	{root: "topology"},
	{root: "eos/guard/postgres", local: []string{"eos/guard"}, modules: []string{"github.com/jackc/pgx/v5"}},
	{root: "eos/guard"},
	{
		root: "eos",
		modules: []string{
			"github.com/twmb/franz-go/pkg/kgo", "github.com/twmb/franz-go/pkg/kadm",
			"github.com/twmb/franz-go/pkg/kmsg", "github.com/twmb/franz-go/pkg/kerr",
			"github.com/twmb/franz-go/pkg/kversion", "github.com/gofrs/flock", "golang.org/x/sync",
		},
	},
	{
		root: "processor", local: []string{"topology", "eos", "internal"},
		modules: []string{"*"},
	},
}

// Imports holds the import directions of shipped code. Tests may look at the
// layers above them.
func Imports(t *Tree) []Fault {
	var faults []Fault
	for _, f := range t.Go {
		if f.Test {
			continue
		}
		i := slices.IndexFunc(layers, func(l layer) bool { return below(f.Dir, l.root) })
		for imp, pos := range f.imports() {
			dir, isLocal := local(imp)
			switch {
			case isLocal && program(dir):
				faults = append(faults, t.fault(pos, "imports the program %s: move what is shared into a library", dir))
			case i < 0:
			case isLocal:
				l := layers[i]
				if !slices.ContainsFunc(append([]string{l.root}, l.local...), func(root string) bool { return below(dir, root) }) {
					faults = append(faults, t.fault(pos, "%s may not import %s; see docs/architecture.md", l.root, dir))
				}
			case !standard(imp):
				l := layers[i]
				if !slices.ContainsFunc(l.modules, func(m string) bool { return m == "*" || below(imp, m) }) {
					faults = append(faults, t.fault(pos, "%s may not import %s; see docs/architecture.md", l.root, imp))
				}
			}
		}
	}
	return faults
}

// TestFramework holds that shipped code does not import the test framework or a
// package that exists for tests. topologytest and guardtest are shipped for users'
// tests and may import testing, but nothing that would add a dependency.
func TestFramework(t *Tree) []Fault {
	var faults []Fault
	for _, f := range t.Go {
		shippedDriver := f.Dir == "topology/topologytest" || f.Dir == "eos/guard/guardtest"
		if f.Test || testHelper(f.Dir) && !shippedDriver {
			continue
		}
		for imp, pos := range f.imports() {
			dir, isLocal := local(imp)
			framework := below(imp, "github.com/stretchr/testify") || isLocal && testHelper(dir)
			if below(imp, "testing") && !shippedDriver {
				framework = true
			}
			if framework {
				faults = append(faults, t.fault(pos, "shipped code imports %s, which is for tests only", imp))
			}
		}
	}
	return faults
}

// unlinked lists what a program must not link when it imports only the library.
var unlinked = []string{
	"github.com/twmb/franz-go/pkg/kfake", "github.com/jackc/pgx",
	"github.com/stretchr/testify", "testing",
}

// Linked follows the imports of the public library packages through this module
// and holds that none reaches an embedded cluster, a database driver or the
// test framework.
func Linked(t *Tree) []Fault {
	uses := map[string]map[string]Fault{} // folder -> import -> where
	for _, f := range t.Go {
		if f.Test {
			continue
		}
		if uses[f.Dir] == nil {
			uses[f.Dir] = map[string]Fault{}
		}
		for imp, pos := range f.imports() {
			uses[f.Dir][imp] = t.fault(pos, "")
		}
	}
	var faults []Fault
	for _, root := range []string{"processor", "eos", "topology"} {
		faults = append(faults, reach(uses, root, []string{root}, map[string]bool{root: true})...)
	}
	return faults
}

// reach returns the forbidden imports reachable from dir, to which chain leads.
func reach(uses map[string]map[string]Fault, dir string, chain []string, seen map[string]bool) []Fault {
	var faults []Fault
	for imp, where := range uses[dir] {
		next, isLocal := local(imp)
		if isLocal && !seen[next] {
			seen[next] = true
			faults = append(faults, reach(uses, next, append(slices.Clone(chain), next), seen)...)
			continue
		}
		if slices.ContainsFunc(unlinked, func(p string) bool { return below(imp, p) }) {
			where.Text = path.Base(imp) + " is linked into every program that imports " + chain[0] +
				" (" + strings.Join(append(slices.Clone(chain), imp), " -> ") + ")"
			faults = append(faults, where)
		}
	}
	return faults
}
