package processor

import (
	"errors"
	"fmt"
	"time"

	"github.com/weirstream/weir/topology"
)

type action uint8

const (
	actionFail action = iota
	actionSkip
	actionDeadLetter
)

var actionNames = [...]string{"fail", "skip", "dead-letter"}

// Policy says what becomes of a record that failed. The zero value is Fail().
type Policy struct {
	last     action
	attempts int
	backoff  time.Duration
	bad      error
}

// maxBackoff bounds the wait between two attempts.
const maxBackoff = 30 * time.Second

// Fail ends the application with an error that names the record. Records before
// it commit, nothing of the record is written, and after a restart it comes
// again. The default.
func Fail() Policy { return Policy{} }

// Skip drops the record, counts and logs it; none of its outputs is written.
func Skip() Policy { return Policy{last: actionSkip} }

// DeadLetter writes the record to the dead letter topic, in the transaction that
// commits its offset; see package deadletter. None of its outputs is written.
func DeadLetter() Policy { return Policy{last: actionDeadLetter} }

// Retry runs the record up to attempts times more, first after backoff, then
// after twice the last wait, at most 30s; only its partition waits, and no
// transaction is held open. After that, then decides. attempts must be 1 to
// 1000, backoff at least 1ms, and then not a Retry. Attempts are counted in
// memory: a restart or a move to another member begins anew.
//
// In phase produce it covers serdes and undeclared topics. An output that a
// broker refused for good would meet the same refusal: then decides at once.
func Retry(attempts int, backoff time.Duration, then Policy) Policy {
	p := Policy{last: then.last, attempts: attempts, backoff: backoff, bad: then.bad}
	switch {
	case then.attempts > 0:
		p.bad = errors.New("a Retry that ends in a Retry has no end: end it with Fail, Skip or DeadLetter")
	case attempts < 1 || attempts > 1000:
		p.bad = fmt.Errorf("%d attempts: must be 1 to 1000", attempts)
	case backoff < time.Millisecond:
		p.bad = fmt.Errorf("backoff %v: must be at least 1ms", backoff)
	}
	return p
}

// wait is how long to wait before attempt n, from 1.
func (p Policy) wait(n int) time.Duration {
	d := p.backoff
	for range n - 1 {
		if d *= 2; d >= maxBackoff {
			return maxBackoff
		}
	}
	return min(d, maxBackoff)
}

// String returns "fail", "skip" or "dead-letter", with the attempts before it.
func (p Policy) String() string {
	if p.attempts > 0 {
		return fmt.Sprintf("retry %d times from %v, then %s", p.attempts, p.backoff, actionNames[p.last])
	}
	return actionNames[p.last]
}

// policies by phase.
type policies [topology.PhaseEffect + 1]Policy

func (ps policies) use(a action) bool {
	for _, p := range ps {
		if p.last == a {
			return true
		}
	}
	return false
}
