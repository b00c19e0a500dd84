// Package processor runs a topology on Kafka, exactly once.
//
//	func main() {
//		processor.Main("wordsplit", func(b *topology.Builder) { ... })
//	}
//
// Main is a whole program: flags, environment, signals, exit code. New and
// App.Run are the same inside a program of your own.
//
// The outputs of a record, its dead letter and its input offset become visible
// together, once, to read_committed readers of the same cluster. Functions of
// the topology may run more than once for a record; exactly one run commits.
// Outside the cluster only an effect that is emitted has a promise, that of its
// class; see [WithGate].
//
// What becomes of a record that fails is a [Policy] for each phase; see
// [WithErrorPolicy]. Errors of Run are an [eos.Error], or join several: they say
// what happened, where, and what to do.
package processor
