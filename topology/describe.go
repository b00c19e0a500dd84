package topology

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

const guarantee = "guarantee: the outputs of a record and its input offset become visible together, once,\n" +
	"in one Kafka transaction. It holds within one Kafka cluster and ends at its edge."

// leaving is said where effects leave it.
const leaving = " Effects\n" +
	"leave it only by the steps \"emit\", after that transaction commits, each with the promise shown."

// Describe returns the graph as text for people: per step its topics, what feeds
// it, where its result is fixed, where the offset is acknowledged, and who owns
// an effect outside Kafka. The text is stable for one version of this module.
// Internal topics carry "<application.id>"; see [Plan.Describe].
func (t *Topology) Describe() string { return t.draft().Describe() }

// Describe is [Topology.Describe] with the full names of internal topics.
func (p *Plan) Describe() string {
	var text strings.Builder
	text.WriteString(guarantee)
	if slices.ContainsFunc(p.top.nodes, func(n *node) bool { return n.kind == kindEmit }) {
		text.WriteString(leaving)
	}
	text.WriteString("\n")
	for i, sub := range p.top.subs {
		fmt.Fprintf(&text, "\nsub-topology %d\n", i)
		w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "  step\tname\ttopic\tfed by\tresult fixed\toffset acknowledged\texternal effect")
		for _, n := range sub.nodes {
			at, _ := pointsOf(n)
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\n", n.kind, n.name,
				orDash(p.topicsOf(n)), orDash(namesOf(n.up)), at.fixed, at.acknowledged, at.effect)
		}
		_ = w.Flush() // a strings.Builder takes every write
	}
	return text.String()
}

// draft is a Plan for an application id that is not known yet.
func (t *Topology) draft() *Plan {
	return t.named("<application.id>")
}

func namesOf(nodes []*node) []string {
	var names []string
	for _, n := range nodes {
		names = append(names, n.name)
	}
	return names
}

func orDash(names []string) string {
	if len(names) == 0 {
		return "-"
	}
	return strings.Join(names, ", ")
}
