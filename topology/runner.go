package topology

import (
	"fmt"
	"runtime/debug"
	"time"

	"github.com/weirstream/weir/topology/internal/tap"
)

// run is the state of one record on its way through the graph, reused from
// record to record. Owner: the goroutine that calls Process.
type run struct {
	at     *node // operator whose code is running, for errors and panics
	phase  Phase
	caller bool // emit is running: a panic is not the user's

	record    *Record
	headers   []Header  // what an output made now would carry
	timestamp time.Time // likewise
	nullKey   bool      // the key was null and its serde has no value for null

	names    []string // internal topic of each node, by index; "" if it has none
	ordinals []int32  // by effect: the intents that the record has emitted
	emit     func(*Output)
	out      Output
	bytes    arena
	tap      *tap.Tap // nil but in tests
}

// fail makes the error of the operator that is running.
func (x *run) fail(err error) error {
	return &RecordError{Phase: x.phase, Operator: x.at.name, Err: err}
}

// user marks that a function of the user is about to run in n.
func (x *run) user(n *node) {
	x.at, x.phase = n, PhaseProcess
}

// send emits what was put into out.
func (x *run) send() {
	x.caller = true
	x.emit(&x.out)
	x.caller = false
}

// Runner runs records through a topology, one after the other. It holds scratch
// memory: one Runner belongs to one goroutine at a time. Any number of Runners
// of one [Plan] may run at once.
type Runner struct {
	sources map[string]*node
	topic   string // topic of the last record, and its source
	source  *node
	x       run
}

// Process runs one record through every operator that it reaches and calls emit
// for each output, in order. It returns nil, a [*RecordError] that blames the
// record, or an error that matches [ErrUnknownTopic].
//
// Outputs may have been emitted before an error: the caller stages them and
// throws them away. The Output passed to emit is reused after emit returns; the
// slices in it are not, and belong to the receiver (Headers may be shared with
// rec and with other outputs: do not change them in place). Process does not
// keep rec.
//
// A panic in a function or serde of the user is a RecordError whose cause is a
// [*PanicError]; a panic in emit goes through.
func (r *Runner) Process(rec *Record, emit func(*Output)) (err error) {
	if r.source == nil || r.topic != rec.Topic {
		source, ok := r.sources[rec.Topic]
		if !ok {
			return fmt.Errorf("topology: topic %q: %w", rec.Topic, ErrUnknownTopic)
		}
		r.topic, r.source = rec.Topic, source
	}
	x := &r.x
	x.record, x.emit = rec, emit
	x.headers, x.timestamp, x.nullKey = rec.Headers, rec.Timestamp, false
	x.at, x.phase, x.caller = r.source, PhaseDecode, false
	clear(x.ordinals)
	defer x.finish(&err)
	return r.source.enter(x, rec)
}

// Tap has t see and stand in for what only effects can read. It is for package
// topologytest: nobody else can make a Tap.
func (r *Runner) Tap(t *tap.Tap) { r.x.tap = t }

// finish lets go of the record and turns a panic of the user into an error.
func (x *run) finish(err *error) {
	x.record, x.emit, x.headers, x.out = nil, nil, nil, Output{}
	if x.caller {
		return // emit panicked: not ours to recover
	}
	if v := recover(); v != nil {
		*err = x.fail(&PanicError{Value: v, Stack: debug.Stack()})
	}
}

// arena hands out memory for encoded keys and values from blocks, so that an
// output does not cost an allocation of its own. Handed out memory is never
// reused.
type arena struct{ free []byte }

// arenaBlock is small enough that an output kept for long pins little memory.
const arenaBlock = 8 << 10

// encode appends v with serde into the arena. A nil result is null.
func encode[T any](a *arena, serde Serde[T], v T) ([]byte, error) {
	data, err := serde.Append(a.room(), v)
	if err != nil || data == nil {
		return nil, err
	}
	return a.keep(data), nil
}

// room is empty and has capacity to append to.
func (a *arena) room() []byte {
	if cap(a.free) < arenaBlock/8 {
		a.free = make([]byte, 0, arenaBlock)
	}
	return a.free
}

// keep takes data, which was appended to room, out of the arena.
func (a *arena) keep(data []byte) []byte {
	n := len(data)
	if block := a.free[:cap(a.free)]; cap(data) > 0 {
		// Also of a serde that cut bytes off in front or capacity behind, the
		// memory is taken: the next record must not overwrite it.
		first := &data[:1][0] == &block[0]
		last := &data[:cap(data)][cap(data)-1] == &block[len(block)-1]
		switch {
		case last:
			a.free = data[n:n]
		case first:
			a.free = block[n:n]
		}
	}
	return data[:n:n]
}
