package faultproxy

import (
	"syscall"
	"time"
)

// preciseSleep blocks the thread on the kernel's high-resolution timer.
func preciseSleep(d time.Duration) {
	ts := syscall.NsecToTimespec(d.Nanoseconds())
	for syscall.Nanosleep(&ts, &ts) == syscall.EINTR { // ts holds what is left
	}
}
