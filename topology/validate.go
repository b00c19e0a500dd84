package topology

import (
	"fmt"
	"slices"
	"strings"
)

// validate returns every fault of a graph: those of each operator in the order
// of the calls, then those that take several operators to see.
func validate(nodes []*node) []error {
	var faults []error
	for _, n := range nodes {
		for _, text := range slices.Concat(n.faults, nameFaults(n), topicFaults(n), pointFaults(n)) {
			faults = append(faults, faultf("%s: %s", n.subject(), text))
		}
	}
	for _, rule := range []func([]*node) []error{noSource, sameNames, loops, looseEnds} {
		faults = append(faults, rule(nodes)...)
	}
	return faults
}

// maxName is the longest name of a Kafka topic; operators take the same limit,
// since internal topics are named after them.
const maxName = 249

// badName says what is wrong with the name of an operator, or "".
func badName(name string) string {
	if name == "" {
		return "is empty"
	}
	if len(name) > maxName {
		return fmt.Sprintf("has %d characters: at most %d are allowed", len(name), maxName)
	}
	for _, c := range name {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && !strings.ContainsRune("._-", c) {
			return fmt.Sprintf("has the character %q: only a-z, A-Z, 0-9, '.', '_' and '-' are allowed", c)
		}
	}
	return ""
}

// badTopic says what is wrong with the name of a topic by Kafka's rules, or "".
func badTopic(name string) string {
	if name == "." || name == ".." {
		return "is reserved"
	}
	return badName(name)
}

func nameFaults(n *node) []string {
	if (n.kind.isSource() || n.kind == kindSink) && (n.kind == kindRepartitionSource || slices.Contains(n.topics, n.name)) {
		return nil // seen as a topic, or at its pair
	}
	if reason := badName(n.name); reason != "" {
		return []string{"its name " + reason}
	}
	return nil
}

func topicFaults(n *node) []string {
	var faults []string
	for i, topic := range n.topics {
		if reason := badTopic(topic); reason != "" {
			faults = append(faults, fmt.Sprintf("its topic %s %s", quote(topic), reason))
		}
		if slices.Contains(n.topics[:i], topic) {
			faults = append(faults, fmt.Sprintf("lists topic %s twice", quote(topic)))
		}
	}
	return faults
}

// pointFaults refuses a step of which nobody can say where its result is fixed.
func pointFaults(n *node) []string {
	if _, ok := pointsOf(n); !ok {
		return []string{"cannot tell where its result is fixed, where the offset is acknowledged and who owns an external effect"}
	}
	return nil
}

func noSource(nodes []*node) []error {
	if slices.ContainsFunc(nodes, func(n *node) bool { return n.kind == kindSource }) {
		return nil
	}
	return []error{faultf("it has no source: add a Source")}
}

// sameNames finds operators that share a name. Sources, sinks and the operators
// between them have a space of names each.
func sameNames(nodes []*node) []error {
	type key struct {
		source, sink bool
		name         string
	}
	var faults []error
	first := map[key]*node{}
	for _, n := range nodes {
		if n.kind == kindRepartitionSource || n.name == "" {
			continue
		}
		inner := n.kind == kindRepartition
		k := key{n.kind.isSource(), n.kind.isSink() && !inner, n.name}
		other, taken := first[k]
		switch {
		case !taken:
			first[k] = n
		case inner && other.kind == kindRepartition:
			faults = append(faults, faultf("%s: the name is used twice, and both would use topic %s", n.subject(), repartitionTopic("<application.id>", n.name)))
		case n.kind.isSource() && n.kind == other.kind && slices.Equal(n.topics, other.topics) && n.effect == other.effect:
			// reported as a topic or effect that is read twice
		case n.kind == kindSink && other.kind != kindEmit:
			faults = append(faults, faultf("%s: the name is taken by another sink: give one of them a Name", n.subject()))
		default:
			faults = append(faults, faultf("%s: the name is taken by %s", n.subject(), other.subject()))
		}
	}
	return faults
}

// loops finds sinks that may write to a topic that their records came from, and
// effects that are emitted again when they end.
func loops(nodes []*node) []error {
	var faults []error
	for _, n := range nodes {
		if n.kind == kindEmit && comesFrom(n, func(at *node) bool { return at.kind == kindOutcomes && at.effect == n.effect }) {
			faults = append(faults, faultf("%s: emits effect %s, whose outcomes its records come from: they would go round for ever", n.subject(), quote(n.effect.name)))
		}
		if n.kind != kindSink && n.kind != kindDynamicSink {
			continue
		}
		for _, topic := range n.topics {
			if topic != "" && comesFrom(n, func(at *node) bool { return at.kind == kindSource && at.topics[0] == topic }) {
				faults = append(faults, faultf("%s: writes topic %s, which its records come from: they would go round for ever", n.subject(), quote(topic)))
			}
		}
	}
	return faults
}

// comesFrom reports whether records of a source can reach n, also through
// repartition topics.
func comesFrom(n *node, source func(*node) bool) bool {
	seen := map[*node]bool{n: true}
	for queue := []*node{n}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if source(at) {
			return true
		}
		ups := at.up
		if at.kind == kindRepartitionSource {
			ups = []*node{at.pair}
		}
		for _, up := range ups {
			if !seen[up] {
				seen[up] = true
				queue = append(queue, up)
			}
		}
	}
	return false
}

// looseEnds finds streams that nothing uses and branches without an end.
func looseEnds(nodes []*node) []error {
	var faults []error
	for _, n := range nodes {
		if n.kind == kindBranch && !n.closed {
			faults = append(faults, faultf("%s: say what becomes of the rest: end it with Default or DropRest", n.subject()))
		}
		if len(n.down) > 0 || n.kind.isSink() || n.kind == kindPeek {
			continue
		}
		switch n.kind {
		case kindBranch:
			faults = append(faults, faultf("%s: has no Case", n.subject()))
		default:
			faults = append(faults, faultf("%s: its stream ends in nothing: add To, ToFunc, Emit, Repartition or Peek", n.subject()))
		}
	}
	return faults
}
