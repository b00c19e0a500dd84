// Package eos runs the consume-process-produce transaction of Kafka: a
// record's outputs and the input offset that caused them become visible
// together, once, to read_committed readers of the same cluster. It is usable
// alone, with a franz-go record in hand and no topology.
//
// # The guarantee, and where it ends
//
// For every input record whose transaction committed: its outputs and its
// offset are in one Kafka transaction (KIP-98, KIP-447). A handler may run more
// than once for a record; exactly one run commits. The guarantee holds inside
// one Kafka cluster. Whatever a handler does elsewhere (a row, a call, a mail)
// happens as often as the handler runs; for effects see package guard and
// processor.WithGate.
//
// # Parts
//
// A member is this process in the consumer group: one group client without a
// transactional.id, which polls and routes and never produces. A lane is a
// fixed set of this member's tasks (all input partitions of one number) with
// producers of its own; lanes share no partition, so an abort in one leaves the
// others alone. A slot is one transactional producer of a lane. The slots of a
// lane take turns: while one ends its transaction the next one is filled.
//
// What a lane does next is decided by a pure machine (machine.go); slot.go
// carries it out. The rules both follow are in docs/architecture.md.
package eos
