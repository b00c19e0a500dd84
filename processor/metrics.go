package processor

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/eos/guard"
	"github.com/weirstream/weir/eos/guard/deliver"
)

// metrics counts what the engine does. It is an eos.Observer, and a
// prometheus.Collector whose lag and queue depths are read at each scrape.
type metrics struct {
	app *App

	recordsIn, recordsOut, bytesIn prometheus.Counter
	transactions                   *prometheus.CounterVec // by outcome and reason
	age, records, size             prometheus.Histogram
	stage                          *prometheus.HistogramVec // by stage
	fencings, lost                 prometheus.Counter
	moves                          *prometheus.CounterVec   // by kind
	deadLetters, skipped, retries  *prometheus.CounterVec   // by phase
	intents                        *prometheus.CounterVec   // by effect, source and what became of them
	attempts, lookups              *prometheus.CounterVec   // by effect and answer
	attemptTime                    *prometheus.HistogramVec // by effect
	fenced                         *prometheus.CounterVec   // by effect

	lag, queued, waiting, joined *prometheus.Desc
}

func newMetrics(a *App) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	}
	seconds := prometheus.ExponentialBuckets(0.0005, 2, 16)
	gauge := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return &metrics{
		app:          a,
		recordsIn:    counter("weir_input_records_total", "Input records of committed transactions."),
		recordsOut:   counter("weir_output_records_total", "Output records of committed transactions, dead letters included."),
		bytesIn:      counter("weir_input_bytes_total", "Bytes of keys and values of input records of committed transactions."),
		transactions: counters("weir_transactions_total", "Ended transactions; reason is empty for committed ones.", "outcome", "reason"),
		age:          histogram("weir_transaction_age_seconds", "Time from the opening of a transaction to its end.", seconds),
		records:      histogram("weir_transaction_records", "Input records of a transaction.", prometheus.ExponentialBuckets(1, 4, 10)),
		size:         histogram("weir_transaction_bytes", "Input bytes of a transaction.", prometheus.ExponentialBuckets(256, 4, 10)),
		stage: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "weir_transaction_stage_seconds", Help: "Time a transaction spent in a stage: process, flush, offsets or end.", Buckets: seconds,
		}, []string{"stage"}),
		fencings:    counter("weir_peer_fencings_total", "Open transactions of dead peers or predecessors that were aborted."),
		lost:        counter("weir_skipped_offsets_total", "Offsets that were deleted before they were processed and skipped."),
		moves:       counters("weir_partition_moves_total", "Partitions assigned, revoked or lost.", "kind"),
		deadLetters: counters("weir_dead_letters_total", "Records dead-lettered; repeated transactions count again.", "phase"),
		skipped:     counters("weir_skipped_records_total", "Records skipped by policy; repeated transactions count again.", "phase"),
		retries:     counters("weir_record_retries_total", "Attempts that were put off by policy.", "phase"),
		intents:     counters("weir_intents_total", "Intents taken into the ledger: fresh, duplicate, conflict or second key; repeated transactions count again.", "effect", "source", "admission"),
		attempts:    counters("weir_effect_attempts_total", "Attempts to perform an effect, by what the receiver said.", "effect", "verdict"),
		lookups:     counters("weir_effect_lookups_total", "Look-ups of effects in doubt, by what was found.", "effect", "found"),
		attemptTime: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "weir_effect_attempt_seconds", Help: "Time of one attempt or look-up.", Buckets: seconds,
		}, []string{"effect"}),
		fenced:  counters("weir_effect_fenced_total", "Results that were not booked: their attempt took longer than its lease, or they were booked before.", "effect"),
		lag:     gauge("weir_lag_offsets", "Distance from the committed position to the last stable offset; 0 at the end of a partition.", "topic", "partition"),
		queued:  gauge("weir_queued_records", "Records fetched and not yet in a transaction.", "topic", "partition"),
		waiting: gauge("weir_waiting_partitions", "Partitions that wait for a record to be tried again."),
		joined:  gauge("weir_group_joined", "1 if the group has accepted this member; with effects, also that of their deliveries."),
	}
}

func (m *metrics) static() []prometheus.Collector {
	return []prometheus.Collector{
		m.recordsIn, m.recordsOut, m.bytesIn, m.transactions, m.age, m.records, m.size, m.stage,
		m.fencings, m.lost, m.moves, m.deadLetters, m.skipped, m.retries,
		m.intents, m.attempts, m.lookups, m.attemptTime, m.fenced,
	}
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(out chan<- *prometheus.Desc) {
	for _, c := range m.static() {
		c.Describe(out)
	}
	for _, d := range []*prometheus.Desc{m.lag, m.queued, m.waiting, m.joined} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(out chan<- prometheus.Metric) {
	for _, c := range m.static() {
		c.Collect(out)
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...) //nolint:promlinter // it cannot read the description
	}
	waiting, joined := 0, 0
	for _, p := range m.app.partitions() {
		gauge(m.lag, float64(p.Lag()), p.Topic, decimal(p.Partition))
		gauge(m.queued, float64(p.Queued), p.Topic, decimal(p.Partition))
		if p.Waiting {
			waiting++
		}
	}
	if m.app.joined() {
		joined = 1
	}
	gauge(m.waiting, float64(waiting))
	gauge(m.joined, float64(joined))
}

// Observe implements eos.Observer.
func (m *metrics) Observe(e eos.Event) {
	switch e.Kind {
	case eos.Ended:
		m.ended(e)
	case eos.PeerFenced:
		m.fencings.Inc()
	case eos.OffsetsSkipped:
		m.lost.Add(float64(e.Records))
	case eos.Assigned, eos.Revoked, eos.PartitionsLost:
		n := 0
		for _, ps := range e.Partitions {
			n += len(ps)
		}
		m.moves.WithLabelValues(e.Kind.String()).Add(float64(n))
	default: // steps that the end of the transaction tells of
	}
}

func (m *metrics) ended(e eos.Event) {
	m.transactions.WithLabelValues(e.Outcome.String(), string(e.Reason)).Inc()
	m.age.Observe(e.Age.Seconds())
	m.records.Observe(float64(e.Records))
	m.size.Observe(float64(e.Bytes))
	if e.Outcome != eos.Committed {
		return
	}
	m.recordsIn.Add(float64(e.Records))
	m.recordsOut.Add(float64(e.Outputs))
	m.bytesIn.Add(float64(e.Bytes))
	m.stage.WithLabelValues("process").Observe(e.Busy.Seconds())
	m.stage.WithLabelValues("flush").Observe(e.Flush.Seconds())
	m.stage.WithLabelValues("offsets").Observe(e.Offsets.Seconds())
	m.stage.WithLabelValues("end").Observe(e.End.Seconds())
}

// admitted counts an intent that was taken into the ledger.
func (m *metrics) admitted(effect, source string, a guard.Admission) {
	m.intents.WithLabelValues(effect, source, a.String()).Inc()
}

// effect counts what a worker did.
func (m *metrics) effect(e deliver.Event) {
	if e.Work == guard.Ask {
		m.lookups.WithLabelValues(e.Effect, e.Found.String()).Inc()
	} else {
		m.attempts.WithLabelValues(e.Effect, e.Verdict.String()).Inc()
	}
	m.attemptTime.WithLabelValues(e.Effect).Observe(e.Took.Seconds())
	if e.Fenced {
		m.fenced.WithLabelValues(e.Effect).Inc()
	}
}

// both hands each event to a and, if there is one, to b.
func both(a, b eos.Observer) eos.Observer {
	if b == nil {
		return a
	}
	return eos.ObserverFunc(func(e eos.Event) { a.Observe(e); b.Observe(e) })
}

// register makes the metrics known for the time of Run, with the label app, and
// with the label instance where the process has a configured one.
func (a *App) register() (unregister func(), err error) {
	labels := prometheus.Labels{"app": a.cfg.engine.ApplicationID}
	if id := a.cfg.engine.InstanceID; id != "" {
		labels["instance_id"] = id
	}
	own := []prometheus.Collector{collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})}
	for _, c := range own {
		if err := a.reg.Register(c); err != nil {
			return nil, badConfig(err)
		}
	}
	if err := prometheus.WrapRegistererWith(labels, a.reg).Register(a.metrics); err != nil {
		return nil, badConfig(err)
	}
	if a.cfg.registerer == nil {
		return func() {}, nil
	}
	theirs := prometheus.WrapRegistererWith(labels, a.cfg.registerer)
	if err := theirs.Register(a.metrics); err != nil {
		if errors.As(err, new(prometheus.AlreadyRegisteredError)) {
			err = errors.New("the Registerer has the metrics of an application with this id already: give each its own instance id or Registerer")
		}
		return nil, badConfig(err)
	}
	return func() { theirs.Unregister(a.metrics) }, nil
}
