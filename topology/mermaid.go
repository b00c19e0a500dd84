package topology

import (
	"fmt"
	"slices"
	"strings"
)

// Mermaid returns the graph as a Mermaid flow chart with what [Topology.Describe]
// says: a box per step, a frame per sub-topology, a cylinder per topic, and
// a dotted line for an effect whose outcomes are read. Internal topics carry "<application.id>"; see [Plan.Mermaid].
func (t *Topology) Mermaid() string { return t.draft().Mermaid() }

// Mermaid is [Topology.Mermaid] with the full names of internal topics.
func (p *Plan) Mermaid() string {
	var text, edges strings.Builder
	topics := topicsOf(p.top.nodes, p.topicsOf, func(*node) bool { return true })
	text.WriteString("flowchart LR\n")
	for i, topic := range topics {
		fmt.Fprintf(&text, "  t%d[(\"%s\")]\n", i, label(topic))
	}
	for i, sub := range p.top.subs {
		fmt.Fprintf(&text, "  subgraph s%d[\"sub-topology %d: one Kafka transaction, one cluster\"]\n", i, i)
		for _, n := range sub.nodes {
			at, _ := pointsOf(n)
			fmt.Fprintf(&text, "    n%d[\"<b>%s</b> %s<br/>result fixed: %s<br/>offset acknowledged: %s<br/>external effect: %s\"]\n",
				n.index, n.name, n.kind, at.fixed, at.acknowledged, label(at.effect))
			p.edges(&edges, topics, n)
		}
		text.WriteString("  end\n")
	}
	for _, e := range p.Effects() {
		if e.Emitted && e.Read {
			fmt.Fprintf(&edges, "  t%d -.->|\"%s\"| t%d\n", slices.Index(topics, e.Intents), e.Effect, slices.Index(topics, e.Outcomes))
		}
	}
	return text.String() + edges.String()
}

// edges draws what feeds n, and the topics that it writes.
func (p *Plan) edges(text *strings.Builder, topics []string, n *node) {
	for _, up := range n.up {
		fmt.Fprintf(text, "  n%d --> n%d\n", up.index, n.index)
	}
	for _, topic := range p.topicsOf(n) {
		i := slices.Index(topics, topic)
		if n.kind.isSource() {
			fmt.Fprintf(text, "  t%d --> n%d\n", i, n.index)
		} else {
			fmt.Fprintf(text, "  n%d --> t%d\n", n.index, i)
		}
	}
}

// label writes what Mermaid would take for more than text as entities. Names of
// operators and real topics need none.
func label(s string) string {
	return strings.NewReplacer("<", "#lt;", ">", "#gt;", `"`, "#quot;", "#", "#35;").Replace(s)
}
