package guard

import (
	"fmt"
	"time"
)

// Option changes how an effect is delivered, never what it guarantees.
type Option func(*delivery)

// delivery holds what options set.
type delivery struct {
	timeout, lease         time.Duration
	attempts, inFlight     int
	backoffMin, backoffMax time.Duration
	order                  Order
}

func defaults() delivery {
	return delivery{
		timeout: 10 * time.Second, lease: 30 * time.Second, attempts: 8, inFlight: 16,
		backoffMin: 500 * time.Millisecond, backoffMax: time.Minute,
	}
}

// skew is what lease must exceed the time-out by: the way to the ledger and
// back, and a pause of the process.
const skew = time.Second

// Timeout bounds one attempt and one look-up. Default: 10 s.
func Timeout(d time.Duration) Option { return func(o *delivery) { o.timeout = d } }

// Lease is how long a worker may hold an effect; another takes it over when it
// has passed, and takes the outcome for unknown. It must exceed Timeout by more
// than a second. Default: 30 s.
func Lease(d time.Duration) Option { return func(o *delivery) { o.lease = d } }

// Attempts is how often one effect may reach the receiver without an answer,
// before it is parked or asked for. Default: 8. Attempts that did not reach it do
// not count.
func Attempts(n int) Option { return func(o *delivery) { o.attempts = n } }

// Backoff is the wait after the first failure and the longest one; between them
// it doubles. Default: 0.5 s and 1 minute.
func Backoff(first, longest time.Duration) Option {
	return func(o *delivery) { o.backoffMin, o.backoffMax = first, longest }
}

// MaxInFlight is how many effects of the sink one process performs at once.
// Default: 16.
func MaxInFlight(n int) Option { return func(o *delivery) { o.inFlight = n } }

// InOrder says what an effect does to those behind it. Default: [Block].
func InOrder(order Order) Option { return func(o *delivery) { o.order = order } }

func (d delivery) faults(need func(ok bool, format string, args ...any)) {
	need(d.timeout > 0, "Timeout is %v: want more than 0", d.timeout)
	need(d.lease > d.timeout+skew, "Lease is %v: want more than Timeout (%v) and %v", d.lease, d.timeout, skew)
	need(d.attempts >= 1, "Attempts is %d: want at least 1", d.attempts)
	need(d.inFlight >= 1, "MaxInFlight is %d: want at least 1", d.inFlight)
	need(d.backoffMin > 0 && d.backoffMax >= d.backoffMin, "Backoff is %v to %v: want more than 0, and no less at the end", d.backoffMin, d.backoffMax)
	need(d.order >= Block && d.order <= Unordered, "InOrder is %d: want Block, SkipSuperseded or Unordered", d.order)
}

// wait is the backoff after n tries, without jitter.
func (d delivery) wait(n int) time.Duration {
	w := d.backoffMin
	for range n - 1 {
		if w *= 2; w >= d.backoffMax {
			return d.backoffMax
		}
	}
	return w
}

// span is how long the attempts of one effect take at most.
func (d delivery) span() time.Duration {
	total := time.Duration(d.attempts) * d.lease
	for n := 1; n < d.attempts; n++ {
		total += d.wait(n)
	}
	return total
}

func (d delivery) String() string {
	return fmt.Sprintf("%d attempts of %v, lease %v, %s", d.attempts, d.timeout, d.lease, d.order)
}
