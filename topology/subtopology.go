package topology

import "slices"

// subtopology is a part of the graph that is connected without going through an
// internal topic. Its tasks read the same partition number of its sources.
type subtopology struct {
	nodes []*node // in the order in which they were added
}

// subtopologies cuts the graph into its connected parts, numbered by their first
// node.
func subtopologies(nodes []*node) []subtopology {
	var subs []subtopology
	seen := make([]bool, len(nodes))
	for _, first := range nodes {
		if seen[first.index] {
			continue
		}
		seen[first.index] = true
		part := []*node{first}
		for i := 0; i < len(part); i++ {
			for _, n := range slices.Concat(part[i].up, part[i].down) {
				if !seen[n.index] {
					seen[n.index] = true
					part = append(part, n)
				}
			}
		}
		slices.SortFunc(part, func(a, b *node) int { return a.index - b.index })
		subs = append(subs, subtopology{nodes: part})
	}
	return subs
}

// topicsOf returns the topics of the nodes for which pick is true, without
// repeats, in the order of the nodes.
func topicsOf(nodes []*node, name func(*node) []string, pick func(*node) bool) []string {
	var topics []string
	for _, n := range nodes {
		if !pick(n) {
			continue
		}
		for _, topic := range name(n) {
			if !slices.Contains(topics, topic) {
				topics = append(topics, topic)
			}
		}
	}
	return topics
}
