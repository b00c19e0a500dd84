// Package verdict decides whether what an application left in Kafka is what a
// sequential run would have left: every output once, in order per key, the
// group's offsets at the end of the input, and no transaction open.
//
// It is pure: it takes evidence that others gathered and returns a Verdict. It
// imports nothing but the standard library, and nothing of the code that it
// judges, so that a mistake there cannot hide itself here.
package verdict
