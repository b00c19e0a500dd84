package topology

// kind is what a node of the graph does.
type kind uint8

const (
	kindSource kind = iota + 1
	kindMap
	kindMapValues
	kindFlatMap
	kindFlatMapValues
	kindMapMessage
	kindFlatMapMessage
	kindSelectKey
	kindFilter
	kindBranch
	kindCase
	kindDefault
	kindMerge
	kindPeek
	kindSink
	kindDynamicSink
	kindRepartition       // writes the repartition topic
	kindRepartitionSource // reads it back
	kindEmit              // writes intents to perform an effect
	kindOutcomes          // reads how an effect ended
)

// String returns the words that messages and descriptions use.
func (k kind) String() string {
	switch k {
	case kindSource:
		return "source"
	case kindMap:
		return "map"
	case kindMapValues:
		return "map values"
	case kindFlatMap:
		return "flat map"
	case kindFlatMapValues:
		return "flat map values"
	case kindMapMessage:
		return "map message"
	case kindFlatMapMessage:
		return "flat map message"
	case kindSelectKey:
		return "select key"
	case kindFilter:
		return "filter"
	case kindBranch:
		return "branch"
	case kindCase:
		return "case"
	case kindDefault:
		return "default"
	case kindMerge:
		return "merge"
	case kindPeek:
		return "peek"
	case kindSink, kindDynamicSink:
		return "sink"
	case kindRepartition:
		return "repartition"
	case kindRepartitionSource:
		return "repartition source"
	case kindEmit:
		return "emit"
	case kindOutcomes:
		return "outcomes"
	}
	return "unknown step"
}

// isSource reports whether records enter the graph at the node.
func (k kind) isSource() bool {
	return k == kindSource || k == kindRepartitionSource || k == kindOutcomes
}

// isSink reports whether records leave the graph at the node.
func (k kind) isSink() bool {
	return k == kindSink || k == kindDynamicSink || k == kindRepartition || k == kindEmit
}

// node is one operator. Owner: the goroutine that builds; immutable after
// Build, then shared by every Runner.
type node struct {
	index  int
	kind   kind
	name   string
	topics []string // sources: one; sinks: the possible ones; internal ones: none
	faults []string // what the operator's own call got wrong

	up   []*node // where its records come from
	down []*node // where they go

	partitions int   // repartition: asked for, 0 is the default
	pair       *node // repartition and its source: the other one
	closed     bool  // branch: Default or DropRest was called

	effect *declared // emit and outcomes: never nil there

	// enter decodes a record and pushes it on; sources only.
	enter func(*run, *Record) error
	// serdes of a source, to tell whether a second Source is the same.
	keySerde, valueSerde any
	// outlet is the *outlet[K, V] of a source.
	outlet any
}

// subject is how messages name the node.
func (n *node) subject() string {
	if n.kind == kindRepartitionSource {
		n = n.pair // one operator to its user
	}
	return n.kind.String() + " " + quote(n.name)
}

func connect(from, to *node) {
	from.down = append(from.down, to)
	to.up = append(to.up, from)
}
