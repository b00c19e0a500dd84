//go:build !linux

package bench

import "syscall"

const peakUnit = 1

func dieWithParent() *syscall.SysProcAttr { return nil }
