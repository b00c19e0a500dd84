package topology

// Branches splits a stream: each record goes to the first case that takes it, in
// the order of the calls, and to the default if none does.
type Branches[K, V any] struct {
	in    Stream[K, V]
	n     *node
	cases *[]branchCase[K, V]
}

type branchCase[K, V any] struct {
	n    *node
	take func(K, V) bool // nil: the default, takes all
	out  Stream[K, V]
}

// Branch starts a split of s. Add a stream with [Branches.Case] for each kind of
// record, and end with [Branches.Default] or [Branches.DropRest]: what becomes of
// the rest has to be said.
func (s Stream[K, V]) Branch(name string) *Branches[K, V] {
	cases := new([]branchCase[K, V])
	n := s.add(kindBranch, name)
	s.each(func(x *run, k K, v V) error {
		for i := range *cases {
			c := &(*cases)[i]
			if c.take != nil {
				x.user(c.n)
				if !c.take(k, v) {
					continue
				}
			}
			return c.out.push(x, k, v)
		}
		return nil
	})
	return &Branches[K, V]{in: s, n: n, cases: cases}
}

// Case returns the stream of the records that no earlier case took and for which
// take returns true.
func (b *Branches[K, V]) Case(name string, take func(key K, value V) bool) Stream[K, V] {
	return b.add(kindCase, name, take)
}

// Default returns the stream of the records that no case took. It ends the split.
func (b *Branches[K, V]) Default(name string) Stream[K, V] {
	return b.add(kindDefault, name, nil)
}

// DropRest drops the records that no case took. It ends the split.
func (b *Branches[K, V]) DropRest() {
	if b == nil || b.n == nil {
		return
	}
	b.n.need(!b.n.closed, "Default or DropRest is called twice")
	b.n.closed = true
}

func (b *Branches[K, V]) add(kind kind, name string, take func(K, V) bool) Stream[K, V] {
	if b == nil || b.n == nil || b.in.b == nil || b.in.b.built {
		return Stream[K, V]{}
	}
	n := b.in.b.add(kind, name, b.n)
	n.need(!b.n.closed, "comes after the default of "+b.n.subject()+", which takes every record")
	if kind == kindDefault {
		b.n.closed = true
	} else {
		n.need(take != nil, nilFunction)
	}
	out := newStream[K, V](b.in.b, n)
	*b.cases = append(*b.cases, branchCase[K, V]{n: n, take: take, out: out})
	return out
}
