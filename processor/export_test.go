package processor

// RunMain is Main without the process.
var RunMain = run
