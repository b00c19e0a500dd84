package topology

import (
	"errors"
	"slices"
)

// Topology is a checked graph of operators. It never changes and is safe for use
// by many goroutines.
type Topology struct {
	nodes   []*node
	subs    []subtopology
	effects []*declared
}

// Plan is a [Topology] for one application id: every topic has its full name. It
// never changes and is safe for use by many goroutines. Its slices are fresh
// copies.
type Plan struct {
	top   *Topology
	id    string   // application.id
	names []string // internal topic of each node, by index; "" if it has none
}

// Subtopology is a part of a topology that is connected without going through an
// internal topic. It is run as one task per partition number of its sources.
type Subtopology struct {
	ID      int      // from 0, in the order of the first Source, Repartition or Outcomes of each
	Sources []string // topics it reads, internal ones included
	Sinks   []string // topics it may write, internal ones included
}

// Repartition is an internal topic that carries records from one sub-topology to
// another.
type Repartition struct {
	Name       string // of the operator
	Topic      string // <application.id>-<name>-repartition
	Partitions int    // asked for; 0: as many as the largest source of sub-topology From
	From, To   int    // sub-topologies that write and read it
}

// Resolve names the internal topics of an application. The error joins every
// fault, each matching [ErrInvalid]: the application id is not fit for the name
// of a topic, a name becomes too long, or it is already that of another topic of
// the topology.
func (t *Topology) Resolve(applicationID string) (*Plan, error) {
	if reason := badTopic(applicationID); reason != "" {
		return nil, faultf("application id %s %s", quote(applicationID), reason)
	}
	p := t.named(applicationID)
	var faults []error
	for _, n := range t.nodes {
		if n.kind == kindRepartition {
			faults = append(faults, t.internalFaults(n.subject(), p.names[n.index])...)
		}
	}
	for _, e := range p.Effects() {
		subject := "effect " + quote(e.Effect)
		faults = append(faults, t.internalFaults(subject, e.Intents)...)
		if e.Read {
			faults = append(faults, t.internalFaults(subject, e.Outcomes)...)
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return p, nil
}

// internalFaults says what is wrong with an internal topic of subject.
func (t *Topology) internalFaults(subject, topic string) []error {
	var faults []error
	if reason := badTopic(topic); reason != "" {
		faults = append(faults, faultf("%s: its topic %s %s", subject, quote(topic), reason))
	}
	for _, other := range t.nodes {
		if slices.Contains(other.topics, topic) {
			faults = append(faults, faultf("%s: its topic %s is also that of %s", subject, quote(topic), other.subject()))
		}
	}
	return faults
}

// named is a Plan whose topics are not checked.
func (t *Topology) named(applicationID string) *Plan {
	p := &Plan{top: t, id: applicationID, names: make([]string, len(t.nodes))}
	for _, n := range t.nodes {
		switch n.kind {
		case kindRepartition, kindRepartitionSource:
			p.names[n.index] = repartitionTopic(applicationID, n.name)
		case kindEmit:
			p.names[n.index] = intentsTopic(applicationID, n.effect.name)
		case kindOutcomes:
			p.names[n.index] = outcomesTopic(applicationID, n.effect.name)
		default: // has no internal topic
		}
	}
	return p
}

func repartitionTopic(applicationID, name string) string {
	return applicationID + "-" + name + "-repartition"
}

// topicsOf returns the full names of a source's or sink's topics.
func (p *Plan) topicsOf(n *node) []string {
	if topic := p.names[n.index]; topic != "" {
		return []string{topic}
	}
	return n.topics
}

// Sources returns the topics that are read, internal ones included, without
// repeats.
func (p *Plan) Sources() []string {
	return topicsOf(p.top.nodes, p.topicsOf, func(n *node) bool { return n.kind.isSource() })
}

// Sinks returns the topics that may be written, internal ones included, without
// repeats.
func (p *Plan) Sinks() []string {
	return topicsOf(p.top.nodes, p.topicsOf, func(n *node) bool { return n.kind.isSink() })
}

// Subtopologies returns the sub-topologies in the order of their IDs.
func (p *Plan) Subtopologies() []Subtopology {
	subs := make([]Subtopology, len(p.top.subs))
	for i, sub := range p.top.subs {
		subs[i] = Subtopology{
			ID:      i,
			Sources: topicsOf(sub.nodes, p.topicsOf, func(n *node) bool { return n.kind.isSource() }),
			Sinks:   topicsOf(sub.nodes, p.topicsOf, func(n *node) bool { return n.kind.isSink() }),
		}
	}
	return subs
}

// Repartitions returns the topics of the repartitions in the order in which they
// were declared.
func (p *Plan) Repartitions() []Repartition {
	var all []Repartition
	for _, n := range p.top.nodes {
		if n.kind == kindRepartition {
			all = append(all, Repartition{
				Name: n.name, Topic: p.names[n.index], Partitions: n.partitions,
				From: p.top.subOf(n), To: p.top.subOf(n.pair),
			})
		}
	}
	return all
}

func (t *Topology) subOf(n *node) int {
	return slices.IndexFunc(t.subs, func(s subtopology) bool { return slices.Contains(s.nodes, n) })
}

// Runner returns a new [Runner].
func (p *Plan) Runner() *Runner {
	r := &Runner{sources: map[string]*node{}}
	r.x.names, r.x.ordinals = p.names, make([]int32, len(p.top.effects))
	for _, n := range p.top.nodes {
		if n.kind.isSource() {
			r.sources[p.topicsOf(n)[0]] = n
		}
	}
	return r
}
