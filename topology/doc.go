// Package topology says what a stream application computes: typed streams from
// source topics through operators to sink topics. It knows no client and no
// broker; package processor runs a topology on Kafka and package topologytest
// runs it in memory.
//
//	b := topology.New()
//	lines := topology.Source(b, "lines", topology.String, topology.String)
//	words := topology.FlatMapValues(lines, "split",
//		func(line string) ([]string, error) { return strings.Fields(line), nil })
//	words.To("words", topology.String, topology.String)
//	top, err := b.Build() // every fault at once
//
// An operator that keeps the types of its stream is a method ([Stream.Filter]);
// one that brings in a new type is a function ([MapValues]). Every operator has a
// name of its own, which stays the same from version to version.
//
// Functions given to operators compute, and get neither a context nor a client.
// They may run more than once for a record; exactly one run commits. What they
// return an error for is a [RecordError]; the error policy of the processor says
// what becomes of the record.
//
// The guarantee ends at the edge of one Kafka cluster: the outputs of a record
// and its input offset are committed in one transaction of that cluster. What is
// to happen beyond it is an [Effect]: [Stream.Emit] puts the intent to perform it
// into that transaction, and [Outcomes] reads how it ended.
// [Topology.Describe] and [Topology.Mermaid] print, for every step, where its
// result is fixed, where the offset is acknowledged, and who owns an effect
// outside Kafka.
package topology
