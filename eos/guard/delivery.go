package guard

import (
	"context"
	"fmt"
	"time"
)

// Delivery is how the effects of one name are delivered: what [Option] and class
// come to.
type Delivery struct {
	Policy Policy
	Order  Order
	// Timeout bounds one attempt and one look-up, Lease the hold of a worker.
	Timeout, Lease time.Duration
	// InFlight is how many one process performs at once.
	InFlight int
	// Outcomes says that somebody reads how effects end: what they publish is kept
	// until it is published.
	Outcomes bool
}

// Delivery is how the effect is delivered.
func (e *Effect[P]) Delivery() Delivery {
	d := e.delivery
	return Delivery{
		Policy: Policy{
			Class: e.class, Window: e.contract.Window - e.contract.Margin, Settle: e.settle,
			Attempts: d.attempts, Backoff: d.wait,
		},
		Order: d.order, Timeout: d.timeout, Lease: d.lease, InFlight: d.inFlight,
	}
}

// Open reads an intent of the effect and derives its identity from the payload
// again. The error matches [ErrIntent], [ErrUnstable] or [ErrIdentity]; nothing
// may be performed then.
func (e *Effect[P]) Open(record []byte) (Intent, error) {
	in, err := parseIntent(record)
	if err != nil {
		return Intent{}, err
	}
	p, err := e.event.codec.Decode(in.Payload)
	if err != nil {
		return Intent{}, fmt.Errorf("%w: effect %s: its payload cannot be read: %w", ErrIntent, e.name, err)
	}
	now, err := e.event.Of(p, in.Origin)
	if err != nil {
		return Intent{}, err
	}
	was := in.Identity
	switch {
	case was.Key != now.Key:
		return Intent{}, e.event.fault(ErrUnstable, fmt.Errorf("an intent was made as %s, and its payload now gives %s", was.Key, now.Key))
	case was.Fingerprint != now.Fingerprint:
		return Intent{}, e.event.fault(ErrUnstable, fmt.Errorf("the significant fields of %s are not those of its intent", now.Key))
	case !was.IssuedAt.Equal(now.IssuedAt):
		return Intent{}, e.event.fault(ErrUnstable, fmt.Errorf("IssuedAt of %s is %v, and was %v in its intent", now.Key, now.IssuedAt, was.IssuedAt))
	}
	in.Effect, in.Identity = e.name, now
	in.Sum, err = now.Key.Sum(e.name)
	return in, err
}

// Perform makes one attempt for the payload of an intent. It must be called by a
// delivery only, after the attempt is durable.
func (e *Effect[P]) Perform(ctx context.Context, call Call, payload []byte) (reply Reply) {
	defer func() {
		if v := recover(); v != nil {
			reply = Reply{Verdict: Unclear, Detail: fmt.Sprintf("panic: %v", v)}
		}
	}()
	p, err := e.event.codec.Decode(payload)
	if err != nil {
		return Reply{Verdict: Unsent, Detail: "its payload cannot be read: " + err.Error()}
	}
	reply = e.do(ctx, call, p)
	reply.Result, reply.Detail = bounded(reply.Result, reply.Detail)
	return reply
}

// maxResult is the longest result that is kept: it has to pass the topic of the
// intents together with the payload.
const maxResult = 64 << 10

// bounded drops a result that is too long, and says so.
func bounded(result []byte, detail string) (kept []byte, note string) {
	if len(result) <= maxResult {
		return result, detail
	}
	return nil, fmt.Sprintf("%s (its result of %d bytes is longer than 64 KiB and not kept)", detail, len(result))
}

// Find looks an effect up. It must be called by a delivery only.
func (e *Effect[P]) Find(ctx context.Context, call Call, payload []byte) (answer Answer) {
	defer func() {
		if v := recover(); v != nil {
			answer = Answer{Found: NoAnswer, Detail: fmt.Sprintf("panic: %v", v)}
		}
	}()
	p, err := e.event.codec.Decode(payload)
	if err != nil {
		return Answer{Found: NoAnswer, Detail: "its payload cannot be read: " + err.Error()}
	}
	answer = e.lookup(ctx, call, p)
	answer.Result, answer.Detail = bounded(answer.Result, answer.Detail)
	return answer
}
