package crashtest

// Worker to test, on file descriptor 3, a line each:
//
//	ready            it can be killed meaningfully from now on
//	hit <point>      it stands at the armed point and waits
//	note <text>      anything that the test wants to know
//
// Test to worker, on standard input:
//
//	arm <skip> <point>   stop at the point after passing it skip times
//	release              go on from the point
//
// When standard input ends, the test is gone and the worker ends, too. Standard
// output and error of the worker are its log.
const (
	lineReady   = "ready"
	lineHit     = "hit "
	lineNote    = "note "
	lineArm     = "arm "
	lineRelease = "release"
)

// The environment of a worker.
const (
	envFunc   = "WEIR_CRASHTEST_FUNC"   // the worker function's name; its presence makes a process a worker
	envConfig = "WEIR_CRASHTEST_CONFIG" // Spec.Config as JSON
	envArm    = "WEIR_CRASHTEST_ARM"    // "<skip> <point>", armed before the function starts
)

// linesFD is the file descriptor of a worker's lines to the test.
const linesFD = 3
