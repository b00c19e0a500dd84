package topology

// Stream is a stream of records with keys of type K and values of type V, as an
// operator hands them on. Operators that keep the types are methods; those that
// bring in a new type are functions ([Map], [MapValues], …), since Go methods
// have no type parameters of their own.
//
// A Stream may feed any number of operators: each gets every record, in the
// order in which the operators were added. The zero Stream belongs to no
// Builder; operators on it do nothing.
//
// The functions given to operators get no context and no client: they compute.
// They may run more than once for a record, and for several partitions at once
// from different goroutines; exactly one run of each record commits.
type Stream[K, V any] struct {
	b   *Builder
	n   *node
	out *outlet[K, V]
}

// outlet is where an operator pushes its results: straight into the closures of
// the operators behind it, with the types known, so that nothing is boxed.
type outlet[K, V any] struct {
	next []func(x *run, k K, v V) error
}

func (o *outlet[K, V]) push(x *run, k K, v V) error {
	for _, next := range o.next {
		if err := next(x, k, v); err != nil {
			return err
		}
	}
	return nil
}

// newStream makes the stream of n's results.
func newStream[K, V any](b *Builder, n *node) Stream[K, V] {
	if b == nil || b.built {
		return Stream[K, V]{}
	}
	return Stream[K, V]{b: b, n: n, out: &outlet[K, V]{}}
}

// derive adds an operator behind s and makes the stream of its results. Behind a
// zero Stream both belong to nothing.
func derive[K2, V2, K, V any](s Stream[K, V], kind kind, name string) (Stream[K2, V2], *node) {
	n := s.add(kind, name)
	return newStream[K2, V2](s.b, n), n
}

func (s Stream[K, V]) add(kind kind, name string) *node {
	if s.b == nil {
		return &node{kind: kind, name: name}
	}
	return s.b.add(kind, name, s.n)
}

// each runs fn on every record of s.
func (s Stream[K, V]) each(fn func(x *run, k K, v V) error) {
	if s.b != nil && !s.b.built {
		s.out.next = append(s.out.next, fn)
	}
}

// push hands a result on. It must not be called on a zero Stream; operators
// behind one never run.
func (s Stream[K, V]) push(x *run, k K, v V) error { return s.out.push(x, k, v) }

// pushKeyed hands on a result whose key a function of the user made: it is no
// longer the null key of the input.
func (s Stream[K, V]) pushKeyed(x *run, k K, v V) error {
	was := x.nullKey
	x.nullKey = false
	err := s.out.push(x, k, v)
	x.nullKey = was
	return err
}

// Filter passes on the records for which keep returns true.
func (s Stream[K, V]) Filter(name string, keep func(key K, value V) bool) Stream[K, V] {
	out, n := derive[K, V](s, kindFilter, name)
	n.need(keep != nil, nilFunction)
	s.each(func(x *run, k K, v V) error {
		x.user(n)
		if !keep(k, v) {
			return nil
		}
		return out.push(x, k, v)
	})
	return out
}

// Peek shows every record to look and passes it on unchanged. By using it the
// program declares look harmless: it writes logs and counts metrics, and nothing
// else. It runs again when a record is processed again, and nothing guards it.
// A stream may end in a Peek.
func (s Stream[K, V]) Peek(name string, look func(Message[K, V])) Stream[K, V] {
	out, n := derive[K, V](s, kindPeek, name)
	n.need(look != nil, nilFunction)
	s.each(func(x *run, k K, v V) error {
		x.user(n)
		look(messageOf(x, k, v))
		return out.push(x, k, v)
	})
	return out
}

// Merge joins s and others into one stream. Records of one partition of one
// topic keep their order; between topics there is none.
func (s Stream[K, V]) Merge(name string, others ...Stream[K, V]) Stream[K, V] {
	all := append([]Stream[K, V]{s}, others...)
	home := s
	for _, in := range all {
		if home.b == nil {
			home = in // a zero Stream knows no Builder to report to
		}
	}
	out, n := derive[K, V](home, kindMerge, name)
	n.need(len(others) > 0, "merges one stream only: give it others")
	seen := map[*node]bool{}
	for _, in := range all {
		switch {
		case in.b == nil:
			n.fault("one of its streams was made by no builder")
			continue
		case in.b != home.b:
			n.fault("one of its streams was made by another builder")
			continue
		case seen[in.n]:
			n.fault("merges " + in.n.subject() + " twice, which would double its records")
		}
		seen[in.n] = true
		if in.n != home.n {
			connect(in.n, n)
		}
		in.each(out.push)
	}
	return out
}

const (
	nilFunction   = "its function is nil"
	nilKeySerde   = "its key serde is nil"
	nilValueSerde = "its value serde is nil"
)
