// Package crashtest kills processes that work on a real Kafka and judges what
// they left behind.
//
// A worker is the test binary run again: TestMain hands the worker functions to
// Main, Start runs one of them as a process of its own. The two ends talk in
// lines over pipes (see protocol.go). A worker calls Reach at its dangerous
// points; the test arms one, learns that it was hit, and kills the process
// there. What counts as hit is what the worker said, never what was hoped for.
//
//	Generate -> input topic -> workers (Start, Kill, Freeze, Terminate) -> output topic
//	Drained: the group's offsets have reached the end of the input
//	Judge:   two readers, stable offsets, open transactions -> verdict.Check
//
// The package knows nothing of the code that the workers run.
package crashtest
