//go:build !linux

package faultproxy

import "time"

// preciseSleep is as exact as the runtime's timers.
func preciseSleep(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // the delay is what is asked for
