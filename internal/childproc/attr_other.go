//go:build !linux

package childproc

import "syscall"

// childAttr puts the child into a process group of its own, so that a terminal's
// interrupt reaches only us.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
