package topology

import (
	"errors"
	"strconv"
)

// Builder collects the operators of one topology. Its functions and the methods
// of its streams never panic: what is wrong with a call is kept and reported by
// [Builder.Build], together with everything else that is wrong.
//
// A Builder belongs to one goroutine.
type Builder struct {
	nodes  []*node
	faults []error // faults that belong to no node
	// effects are those of the nodes, one for each name.
	effects []*declared
	built   bool
}

// New returns an empty Builder.
func New() *Builder { return &Builder{} }

// Build checks the whole topology and returns it. The error joins every fault
// found, one line each, in the order of the calls that caused them and then by
// rule; each matches [ErrInvalid]. Build may be called once.
func (b *Builder) Build() (*Topology, error) {
	if b == nil {
		return nil, faultf("the builder is nil: make one with New")
	}
	if b.built {
		return nil, faultf("Build was called before: a Builder builds one topology")
	}
	b.built = true
	faults := append(b.faults, validate(b.nodes)...)
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return &Topology{nodes: b.nodes, subs: subtopologies(b.nodes), effects: b.effects}, nil
}

// add makes a node fed by ups. After Build it makes one that belongs to nothing.
func (b *Builder) add(kind kind, name string, ups ...*node) *node {
	n := &node{kind: kind, name: name}
	if b == nil || b.built {
		return n
	}
	b.put(n)
	for _, up := range ups {
		connect(up, n)
	}
	return n
}

func (b *Builder) put(n *node) {
	n.index = len(b.nodes)
	b.nodes = append(b.nodes, n)
}

// fault notes what is wrong with the call that made n.
func (n *node) fault(text string) { n.faults = append(n.faults, text) }

// need notes text as a fault unless ok.
func (n *node) need(ok bool, text string) {
	if !ok {
		n.fault(text)
	}
}

func quote(s string) string { return strconv.Quote(s) }
