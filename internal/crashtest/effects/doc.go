// Package effects proves that effects outside of Kafka happen once: it kills
// processes of an application with effects, on a real Kafka and a real
// PostgreSQL, at each step between a record and the word about how its effect
// ended, and counts at the receiver.
//
// The receiver is an HTTP server of the test's own process; it does not die with
// the workers. What it counted, the outcomes as two readers see them, and the
// ledger have to agree with the input.
package effects
