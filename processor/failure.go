package processor

import (
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/eos/guard"
	"github.com/weirstream/weir/processor/deadletter"
	"github.com/weirstream/weir/topology"
)

// RecordError is what ends an application with policy Fail, inside the eos.Error
// that names topic, partition and offset.
type RecordError struct {
	Task string // sub-topology and partition, like 0_1
	*topology.RecordError
}

// Error returns the task, phase, operator and cause.
func (e *RecordError) Error() string { return "task " + e.Task + ": " + e.RecordError.Error() }

// Unwrap returns the topology's error.
func (e *RecordError) Unwrap() error { return e.RecordError }

// failed applies the policy of the phase to a record that the topology refused.
func (w *worker) failed(r *kgo.Record, failure *topology.RecordError) error {
	p := w.app.cfg.policies[failure.Phase]
	if errors.Is(failure.Err, guard.ErrUnstable) {
		p = Fail() // a fault of the program: no record may pass it by
	}
	if p.attempts > 0 {
		key := partition{r.Topic, r.Partition}
		at := w.attempts[key]
		if at.offset != r.Offset {
			at = attempt{offset: r.Offset}
		}
		if at.n < p.attempts {
			at.n++
			w.attempts[key] = at
			w.app.metrics.retries.WithLabelValues(failure.Phase.String()).Inc()
			w.warn("record failed, trying again", r, failure, "attempt", at.n, "wait", p.wait(at.n))
			return eos.RetryAfter(failure, p.wait(at.n))
		}
	}
	return w.decide(r, p.last, failure)
}

// decide ends with the record: it fails, is skipped, or becomes a dead letter.
func (w *worker) decide(r *kgo.Record, last action, failure *topology.RecordError) error {
	phase := failure.Phase.String()
	switch last {
	case actionSkip:
		w.out.Reset()
		w.app.metrics.skipped.WithLabelValues(phase).Inc()
		w.warn("record skipped", r, failure)
		return nil
	case actionDeadLetter:
		w.out.Reset()
		w.out.Produce(w.letter(r, failure))
		w.app.metrics.deadLetters.WithLabelValues(phase).Inc()
		w.warn("record dead-lettered", r, failure, "dead_letter_topic", w.app.cfg.deadLetter)
		return nil
	case actionFail:
	}
	w.stack(r, failure)
	return &RecordError{Task: w.task(r), RecordError: failure}
}

func (w *worker) letter(r *kgo.Record, failure *topology.RecordError) *kgo.Record {
	limit := max(0, w.app.letters-len(r.Key)-headerBytes(r.Headers))
	return deadletter.New(w.app.cfg.deadLetter, r, deadletter.Letter{
		Topic: r.Topic, TopicID: w.app.ids[r.Topic], Partition: r.Partition, Offset: r.Offset, Timestamp: r.Timestamp,
		Phase: failure.Phase.String(), Operator: failure.Operator, Error: failure.Err.Error(),
		ApplicationID: w.app.cfg.engine.ApplicationID, Time: time.Now(),
	}, limit)
}

func headerBytes(hs []kgo.RecordHeader) int {
	n := 0
	for _, h := range hs {
		n += len(h.Key) + len(h.Value) + 10
	}
	return n
}

// refused is the engine's OnRefused: an output was refused for good. Retrying it
// would meet the same refusal, so the policy's end decides at once.
func (a *App) refused(r *kgo.Record, refusal *eos.Refusal, out *eos.Out) error {
	w := a.workers[out.Lane()]
	w.out = out
	if refusal.Output.Topic == a.cfg.deadLetter && a.cfg.policies.use(actionDeadLetter) {
		return w.letterRefused(refusal)
	}
	failure := &topology.RecordError{Phase: topology.PhaseProduce, Operator: refusal.Output.Topic, Err: refusal}
	last := a.cfg.policies[topology.PhaseProduce].last
	if last == actionFail {
		return refusal
	}
	return w.decide(r, last, failure)
}

// letterRefused gives the dead letter topic what it may take instead: an empty
// value, or the time of now. The engine ends Run if that is refused, too.
func (w *worker) letterRefused(refusal *eos.Refusal) error {
	dead := &kgo.Record{
		Topic: refusal.Output.Topic, Key: refusal.Output.Key, Value: refusal.Output.Value,
		Timestamp: refusal.Output.Timestamp, Headers: refusal.Output.Headers,
	}
	mark := func(key, value string) {
		dead.Headers = append(dead.Headers[:len(dead.Headers):len(dead.Headers)], kgo.RecordHeader{Key: key, Value: []byte(value)})
	}
	switch {
	case errors.Is(refusal, kerr.InvalidTimestamp):
		dead.Timestamp = time.Now()
		mark(deadletter.HeaderForced, "true")
	case errors.Is(refusal, kerr.MessageTooLarge), errors.Is(refusal, kerr.RecordListTooLarge):
		mark(deadletter.HeaderValueBytes, fmt.Sprint(len(dead.Value)))
		dead.Value = []byte{}
	default:
		return refusal
	}
	w.out.Reset()
	w.out.Produce(dead)
	return nil
}

// warn logs one line about a record. A panic's stack goes into the line: it is
// the only trace of where it happened.
func (w *worker) warn(msg string, r *kgo.Record, failure *topology.RecordError, more ...any) {
	w.app.log.Warn(msg, append(w.keys(r, failure), more...)...) //nolint:sloglint // the callers' messages are constants
}

func (w *worker) stack(r *kgo.Record, failure *topology.RecordError) {
	if errors.As(failure.Err, new(*topology.PanicError)) {
		w.app.log.Error("a function of the topology panicked", w.keys(r, failure)...)
	}
}

func (w *worker) keys(r *kgo.Record, failure *topology.RecordError) []any {
	keys := []any{
		"task", w.task(r), "topic", r.Topic, "partition", r.Partition, "offset", r.Offset,
		"phase", failure.Phase.String(), "operator", failure.Operator, "error", failure.Err.Error(),
	}
	var p *topology.PanicError
	if errors.As(failure.Err, &p) {
		keys = append(keys, "stack", string(p.Stack))
	}
	return keys
}
