package deliver

import (
	"time"

	"github.com/weirstream/weir/eos/guard"
)

// brakeAfter is how many attempts in a row come to nothing before the sink is
// left alone.
const brakeAfter = 5

// brake keeps a whole sink from being tried while its receiver is down or has
// asked to be left alone: nothing becomes uncertain by waiting. It opens for one
// attempt at a time, and for all when one succeeded.
type brake struct {
	backoff  func(n int) time.Duration
	failures int // in a row
	pauses   int // that the receiver asked for, in a row
	until    time.Time
}

// probing says whether only one attempt may be under way.
func (b *brake) probing() bool { return b.failures >= brakeAfter || b.pauses > 0 }

// saw takes in what one attempt or look-up came to.
func (b *brake) saw(f guard.Finished, now time.Time) {
	if answered(f) {
		b.failures, b.pauses = 0, 0
		return
	}
	if f.Reply.Pause {
		b.pauses++
		b.hold(now, max(f.Reply.Wait, b.backoff(b.pauses)))
		return
	}
	if b.failures++; b.failures >= brakeAfter {
		b.hold(now, b.backoff(b.failures-brakeAfter+1))
	}
}

// hold never shortens a pause.
func (b *brake) hold(now time.Time, d time.Duration) {
	b.until = later(b.until, now.Add(d))
}

// answered: the receiver is there and does its work.
func answered(f guard.Finished) bool {
	if f.Work == guard.Ask {
		return f.Answer.Found != guard.NoAnswer
	}
	switch f.Reply.Verdict {
	case guard.Performed, guard.Refused, guard.Busy, guard.Mismatched:
		return !f.Reply.Pause
	case guard.Unclear, guard.Unsent:
	}
	return false
}
