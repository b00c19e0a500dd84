package processor

import (
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/topology"
)

// worker runs records of one lane through the topology.
//
// Owner: the lane's goroutine, except begun and ended.
type worker struct {
	app      *App
	runner   *topology.Runner
	tasks    map[string]int // source topic -> sub-topology, shared and never changed
	record   topology.Record
	out      *eos.Out
	emit     func(*topology.Output)
	attempts map[partition]attempt

	// topic and id are the last record's.
	topic string
	id    [16]byte

	// begun and ended count records; apart, one is being worked on.
	begun, ended atomic.Uint64
}

type partition struct {
	topic string
	id    int32
}

// attempt counts how often one record has failed.
type attempt struct {
	offset int64
	n      int
}

func newWorker(a *App, tasks map[string]int) *worker {
	w := &worker{app: a, runner: a.plan.Runner(), tasks: tasks, attempts: map[partition]attempt{}}
	w.emit = func(o *topology.Output) {
		w.out.Produce(&kgo.Record{
			Topic: o.Topic, Key: o.Key, Value: o.Value, Headers: toKafka(o.Headers), Timestamp: o.Timestamp,
		})
	}
	return w
}

// handle is the engine's handler.
func (a *App) handle(r *kgo.Record, out *eos.Out) error {
	w := a.workers[out.Lane()]
	w.begun.Add(1)
	defer w.ended.Add(1)
	w.out = out
	if r.Topic != w.topic {
		w.topic, w.id = r.Topic, a.ids[r.Topic]
	}
	w.record = topology.Record{
		Origin: topology.Origin{Topic: r.Topic, TopicID: w.id, Partition: r.Partition, Offset: r.Offset},
		Key:    r.Key, Value: r.Value, Headers: fromKafka(r.Headers), Timestamp: r.Timestamp,
	}
	err := w.runner.Process(&w.record, w.emit)
	if len(w.attempts) > 0 {
		w.forget(r)
	}
	if err == nil {
		return nil
	}
	var failed *topology.RecordError
	if !errors.As(err, &failed) {
		return err
	}
	return w.failed(r, failed)
}

// forget drops the count of a record that is behind. One of the same offset
// stays: its transaction may be repeated, and it is not to begin anew.
func (w *worker) forget(r *kgo.Record) {
	p := partition{r.Topic, r.Partition}
	if at, ok := w.attempts[p]; ok && at.offset < r.Offset {
		delete(w.attempts, p)
	}
}

// task is the name of the task of r, like 0_1.
func (w *worker) task(r *kgo.Record) string {
	return strconv.Itoa(w.tasks[r.Topic]) + "_" + strconv.Itoa(int(r.Partition))
}

func fromKafka(hs []kgo.RecordHeader) []topology.Header {
	if len(hs) == 0 {
		return nil
	}
	out := make([]topology.Header, len(hs))
	for i, h := range hs {
		out[i] = topology.Header(h)
	}
	return out
}

func toKafka(hs []topology.Header) []kgo.RecordHeader {
	if len(hs) == 0 {
		return nil
	}
	out := make([]kgo.RecordHeader, len(hs))
	for i, h := range hs {
		out[i] = kgo.RecordHeader(h)
	}
	return out
}

// stuck watches the workers: a record that is worked on for too long.
type stuck struct {
	since []time.Time
	begun []uint64
}

// look returns the longest time any worker has spent on its record, as far as
// calls of look have seen it.
func (s *stuck) look(workers []*worker, now time.Time) time.Duration {
	if s.since == nil {
		s.since, s.begun = make([]time.Time, len(workers)), make([]uint64, len(workers))
	}
	longest := time.Duration(0)
	for i, w := range workers {
		ended, begun := w.ended.Load(), w.begun.Load()
		switch {
		case begun == ended:
			s.since[i] = time.Time{}
		case begun != s.begun[i] || s.since[i].IsZero():
			s.since[i], s.begun[i] = now, begun
		default:
			longest = max(longest, now.Sub(s.since[i]))
		}
	}
	return longest
}
