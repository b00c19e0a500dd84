package topologytest

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/topology"
	"github.com/weirstream/weir/topology/internal/tap"
)

// Driver runs records through a topology as soon as they are piped in. Records
// for a topic that the topology also reads, repartition topics above all, are fed
// back at once. A Driver belongs to one goroutine, and its faults fail the test.
type Driver struct {
	t          testing.TB
	plan       *topology.Plan
	runner     *topology.Runner
	now        time.Time
	partitions map[string]int32
	next       map[place]int64      // next offset
	unread     map[string][]written // by output topic
	tap        tap.Tap              // of runner
	payload    any                  // of the intent that is about to be emitted
}

// written is an output record, and what its bytes do not show.
type written struct {
	topology.Record
	sink    string
	payload any // of an intent
}

// place is a partition of a topic.
type place struct {
	topic     string
	partition int32
}

// maxFed is how many records one call may cause before it is taken for a loop
// through topics.
const maxFed = 100_000

type config struct {
	applicationID string
	start         time.Time
	partitions    map[string]int32
}

// Option is an option of [New].
type Option interface{ apply(*config) error }

type optionFunc func(*config) error

func (f optionFunc) apply(c *config) error { return f(c) }

// WithApplicationID sets the application id in the names of internal topics. The
// default is "test".
func WithApplicationID(id string) Option {
	return optionFunc(func(c *config) error {
		c.applicationID = id
		return nil
	})
}

// WithStart sets the clock. The default is 2000-01-01 00:00 UTC.
func WithStart(at time.Time) Option {
	return optionFunc(func(c *config) error {
		c.start = at
		return nil
	})
}

// WithPartitions sets the number of partitions of a topic; n must be at least 1.
// The default is what a Repartition asks for, and 1.
func WithPartitions(topic string, n int) Option {
	return optionFunc(func(c *config) error {
		if n < 1 {
			return fmt.Errorf("topic %s: %d partitions: want at least 1", topic, n)
		}
		c.partitions[topic] = int32(n)
		return nil
	})
}

// New returns a Driver for top. It fails t if top or an option is not valid.
func New(t testing.TB, top *topology.Topology, opts ...Option) *Driver {
	t.Helper()
	c := &config{
		applicationID: "test",
		start:         time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
		partitions:    map[string]int32{},
	}
	for _, opt := range opts {
		if err := opt.apply(c); err != nil {
			t.Fatalf("topologytest: %v", err)
		}
	}
	if top == nil {
		t.Fatalf("topologytest: the topology is nil: check the error of Build")
	}
	plan, err := top.Resolve(c.applicationID)
	if err != nil {
		t.Fatalf("topologytest: %v", err)
	}
	for _, r := range plan.Repartitions() {
		if _, set := c.partitions[r.Topic]; !set && r.Partitions > 0 {
			c.partitions[r.Topic] = int32(r.Partitions)
		}
	}
	d := &Driver{
		t: t, plan: plan, runner: plan.Runner(), now: c.start, partitions: c.partitions,
		next: map[place]int64{}, unread: map[string][]written{},
	}
	d.tap.Payload = func(payload any) { d.payload = payload }
	d.runner.Tap(&d.tap)
	return d
}

// Now returns the time of the Driver's clock. It moves by [Driver.Advance] only.
func (d *Driver) Now() time.Time { return d.now }

// Advance moves the clock. d may be negative.
func (d *Driver) Advance(by time.Duration) { d.now = d.now.Add(by) }

// Pipe runs one record through the topology and fails the test if it, or a record
// that it caused, cannot be processed. Offset is assigned; Partition is taken as
// it is; a zero Timestamp becomes the clock's time.
func (d *Driver) Pipe(rec topology.Record) {
	d.t.Helper()
	if err := d.TryPipe(rec); err != nil {
		d.t.Fatalf("topologytest: %v", err)
	}
}

// TryPipe is [Driver.Pipe] for records that are meant to fail: it returns every
// error, joined, with topic, partition and offset before the text. A record that
// fails leaves no output; its offset counts as read.
func (d *Driver) TryPipe(rec topology.Record) error {
	d.t.Helper()
	if sources := d.plan.Sources(); !slices.Contains(sources, rec.Topic) {
		d.t.Fatalf("topologytest: topic %q is not read: the topology reads %s", rec.Topic, strings.Join(sources, ", "))
	}
	if n := d.partitionsOf(rec.Topic); rec.Partition < 0 || rec.Partition >= n {
		d.t.Fatalf("topologytest: topic %s has no partition %d: it has %d; see WithPartitions", rec.Topic, rec.Partition, n)
	}
	if rec.Timestamp.IsZero() {
		rec.Timestamp = d.now
	}
	rec.Offset = d.assign(rec.Topic, rec.Partition)
	var errs []error
	queue := []topology.Record{rec}
	for fed := 0; len(queue) > 0; fed++ {
		if fed == maxFed {
			d.t.Fatalf("topologytest: %s[%d]@%d caused %d records and more: topics feed each other in a loop", rec.Topic, rec.Partition, rec.Offset, maxFed)
		}
		in := queue[0]
		outputs, err := d.process(&in)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s[%d]@%d: %w", in.Topic, in.Partition, in.Offset, err))
		}
		queue = append(queue[1:], outputs...)
	}
	return errors.Join(errs...)
}

// process runs one record and stores its outputs; it returns those to feed back.
func (d *Driver) process(in *topology.Record) ([]topology.Record, error) {
	var staged []written
	err := d.runner.Process(in, func(out *topology.Output) {
		w := written{sink: out.Sink, payload: d.payload, Record: topology.Record{
			Origin: topology.Origin{Topic: out.Topic, Partition: d.partition(out.Topic, out.Key)},
			Key:    out.Key, Value: out.Value, Headers: out.Headers, Timestamp: out.Timestamp,
		}}
		d.payload = nil
		staged = append(staged, w)
	})
	if err != nil {
		return nil, err
	}
	var back []topology.Record
	sources := d.plan.Sources()
	for _, out := range staged {
		out.Offset = d.assign(out.Topic, out.Partition)
		d.unread[out.Topic] = append(d.unread[out.Topic], out)
		if slices.Contains(sources, out.Topic) {
			back = append(back, out.Record)
		}
	}
	return back, nil
}

// Read returns the records written to topic since the last Read of it, as a
// reader sees them, in the order of writing. It fails the test if the topology
// cannot write to topic.
func (d *Driver) Read(topic string) []topology.Record {
	d.t.Helper()
	if sinks := d.plan.Sinks(); !slices.Contains(sinks, topic) {
		d.t.Fatalf("topologytest: topic %q is not written: the topology writes %s", topic, strings.Join(sinks, ", "))
	}
	var records []topology.Record
	for _, w := range d.read(topic) {
		records = append(records, w.Record)
	}
	return records
}

func (d *Driver) read(topic string) []written {
	all := d.unread[topic]
	delete(d.unread, topic)
	return all
}

func (d *Driver) partitionsOf(topic string) int32 { return max(d.partitions[topic], 1) }

// partition spreads keys over partitions: equal keys go to equal partitions. It
// is not Kafka's partitioner. Null keys go to partition 0.
func (d *Driver) partition(topic string, key []byte) int32 {
	if key == nil {
		return 0
	}
	h := fnv.New32a()
	h.Write(key) // never fails
	return int32(h.Sum32() % uint32(d.partitionsOf(topic)))
}

func (d *Driver) assign(topic string, partition int32) int64 {
	at := place{topic, partition}
	offset := d.next[at]
	d.next[at]++
	return offset
}
