// Package killmatrix kills the engine at every dangerous step of its protocol
// on a real Kafka, and judges what the crash left behind.
//
// It holds tests only. A cell is a step, who carries on (the same identity,
// restarted, or another member), and the number of lanes. It counts only if the
// step was really reached:
//
//	go test ./internal/crashtest/killmatrix
//
// runs each cell once and prints the table. WEIR_PROOF_ROUNDS sets how often
// each cell runs, and WEIR_PROOF_STATE a folder in which finished runs are
// recorded, so that a run that was stopped goes on where it was.
package killmatrix
