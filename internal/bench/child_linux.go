package bench

import "syscall"

// peakUnit is the unit of Rusage.Maxrss, in bytes.
const peakUnit = 1024

// dieWithParent has the kernel end a contender whose measuring process is gone.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
