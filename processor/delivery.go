package processor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/eos/guard"
	"github.com/weirstream/weir/eos/guard/deliver"
	"github.com/weirstream/weir/topology"
)

// delivery brings effects out of Kafka: an engine of its own moves intents into
// the ledger, workers perform what the ledger holds, and how an effect ended goes
// back through the topic of its intents, where the ledger chooses the one record
// that publishes it.
type delivery struct {
	app    *App
	group  string
	engine *eos.Engine
	sinks  map[string]*sink // by name
	lanes  []map[int64]prepared
	client *kgo.Client // writes outcomes into topics of intents
}

// sink is one effect.
type sink struct {
	effect   guard.Declared
	worker   *deliver.Worker
	intents  string // topic; "": it is emitted inside a database, and nobody reads how it ends
	outcomes string // topic; "": nobody reads it
}

// prepared is what is known of a record before its turn.
type prepared struct {
	err     error
	entity  string
	publish bool
}

// deliveryCommit is the commit interval of intents: they are small, and what
// waits for them is outside.
const deliveryCommit = 20 * time.Millisecond

// deliverySuffix behind the application id is the group of its delivery.
const deliverySuffix = "-delivery"

const (
	// ledgerTimeout bounds one request to the ledger, ledgerPause is how long a
	// partition of intents waits for one that failed.
	ledgerTimeout = 10 * time.Second
	ledgerPause   = time.Second
	// announceTimeout bounds the writing of one outcome.
	announceTimeout = 10 * time.Second
)

// newDelivery is nil for an application without effects.
func newDelivery(a *App) (*delivery, error) {
	gate, effects := a.cfg.gate, a.plan.Effects()
	if err := gateFaults(gate, effects); err != nil {
		return nil, badConfig(err)
	}
	if gate == nil {
		return nil, nil //nolint:nilnil // no effects, no delivery
	}
	d := &delivery{app: a, group: a.cfg.engine.ApplicationID + deliverySuffix, sinks: map[string]*sink{}}
	for _, e := range gate.Effects() {
		s := &sink{effect: e}
		for _, t := range effects {
			if t.Effect == e.EffectName() {
				s.intents, s.outcomes = t.Intents, t.Outcomes
			}
		}
		d.add(s)
	}
	if len(d.topics()) == 0 {
		return d, nil // all are emitted inside a database
	}
	for range max(1, a.cfg.engine.Lanes) {
		d.lanes = append(d.lanes, map[int64]prepared{})
	}
	var err error
	d.engine, err = eos.New(d.config())
	return d, err
}

// gateFaults: every effect of the topology has to be known to the gate.
func gateFaults(gate *guard.Gate, effects []topology.EffectTopics) error {
	var faults []error
	for _, e := range effects {
		switch {
		case gate == nil:
			faults = append(faults, fmt.Errorf("effect %s: the application has no gate: give one WithGate", e.Effect))
		case !gate.Knows(e.Effect):
			faults = append(faults, fmt.Errorf("effect %s: the gate does not know it: give it to guard.New", e.Effect))
		}
	}
	return errors.Join(faults...)
}

func (d *delivery) add(s *sink) {
	c := deliver.Config{Effect: s.effect, Ledger: d.app.cfg.gate.Ledger(), Log: d.app.log, Observe: d.app.metrics.effect, Patience: d.app.cfg.engine.DrainTimeout}
	if s.outcomes != "" {
		c.Announce = func(outcomes [][]byte) { d.announce(s, outcomes) }
	}
	s.worker = deliver.New(c)
	d.sinks[s.effect.EffectName()] = s
}

// topics are those of the intents.
func (d *delivery) topics() []string {
	var names []string
	for _, s := range d.sinks {
		if s.intents != "" {
			names = append(names, s.intents)
		}
	}
	slices.Sort(names)
	return names
}

// config is that of the application, but for what is read.
func (d *delivery) config() eos.Config {
	c := d.app.cfg.engine
	c.ApplicationID, c.Topics = d.group, d.topics()
	c.CommitInterval, c.MinAge = deliveryCommit, 0
	c.Ahead, c.OnRefused, c.Observer, c.OriginHeaders = d.ahead, nil, nil, false
	c.Start, c.OnLostOffsets = eos.Earliest, eos.Stop
	return c
}

// explain logs what each effect promises, and which promise has to be looked at.
func (d *delivery) explain() {
	for _, e := range d.app.cfg.gate.Effects() {
		class, claim, onUnknown := e.Guarantee()
		d.app.log.Info("effect", "effect", e.EffectName(), "class", class, "promise", claim, "in_doubt", onUnknown)
	}
	for _, name := range d.app.cfg.gate.Expired(time.Now()) {
		d.app.log.Warn("the waiver of an effect that may be doubled has run out: renew it or change the effect", "effect", name)
	}
}

// own makes sure that the effects are this application's in the ledger.
func (d *delivery) own(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ledgerTimeout)
	defer cancel()
	err := d.app.cfg.gate.Ledger().Own(ctx, d.app.cfg.engine.ApplicationID, d.app.cfg.gate.Names())
	switch {
	case errors.Is(err, guard.ErrForeign):
		return badConfig(err)
	case err != nil:
		return fmt.Errorf("the ledger cannot be used: %w", err)
	}
	return nil
}

// run delivers until ctx ends.
func (d *delivery) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	if d.engine != nil {
		client, err := kgo.NewClient(append(d.app.adminOptions(), kgo.RecordDeliveryTimeout(announceTimeout))...)
		if err != nil {
			return badConfig(fmt.Errorf("the client options do not fit together: %w", err))
		}
		defer client.Close()
		d.client = client
		g.Go(func() error { return d.engine.Run(ctx, d.handle) })
	}
	for _, s := range d.sinks {
		g.Go(func() error { s.worker.Run(ctx); return nil })
	}
	return g.Wait()
}

// ahead takes records of intents into the ledger, and asks it about outcomes,
// once for many. A ledger that fails has the partition wait.
func (d *delivery) ahead(lane int, rs []*kgo.Record) error {
	s := d.of(rs[0].Topic)
	known := d.lanes[lane]
	clear(known)
	var intents []guard.Intent
	var outcomes []guard.Announced
	for _, r := range rs {
		if !guard.IsOutcome(r.Value) {
			in, err := s.effect.Open(r.Value)
			if err != nil {
				known[r.Offset] = prepared{err: err}
				break // the handler will stop here
			}
			intents = append(intents, in)
			continue
		}
		o, err := guard.ParseOutcome(r.Value)
		if err != nil {
			known[r.Offset] = prepared{err: err}
			break
		}
		known[r.Offset] = prepared{entity: o.Entity}
		outcomes = append(outcomes, guard.Announced{Sum: o.Sum, Place: d.place(r)})
	}
	ctx, cancel := context.WithTimeout(context.Background(), ledgerTimeout) //nolint:forbidigo // the engine hands none to it
	defer cancel()
	if err := d.admit(ctx, s, intents); err != nil {
		return eos.RetryAfter(err, ledgerPause)
	}
	if err := d.choose(ctx, s, outcomes, known); err != nil {
		return eos.RetryAfter(err, ledgerPause)
	}
	return nil
}

func (d *delivery) of(topic string) *sink {
	for _, s := range d.sinks {
		if s.intents == topic {
			return s
		}
	}
	panic("processor: records of " + topic + ", which no effect has") // the engine reads no other
}

func (d *delivery) place(r *kgo.Record) guard.Origin {
	return guard.Origin{TopicID: d.app.ids[r.Topic], Topic: r.Topic, Partition: r.Partition, Offset: r.Offset}
}

func (d *delivery) admit(ctx context.Context, s *sink, intents []guard.Intent) error {
	if len(intents) == 0 {
		return nil
	}
	admitted, err := d.app.cfg.gate.Ledger().Admit(ctx, s.effect.EffectName(), intents)
	if err != nil {
		d.app.log.Warn("intents cannot be taken into the ledger, trying again", "effect", s.effect.EffectName(), "error", err)
		return err
	}
	for i, a := range admitted {
		d.app.metrics.admitted(s.effect.EffectName(), intents[i].Identity.Key.Source(), a.Admission)
		if a.Admission == guard.Conflict || a.Admission == guard.SecondKey {
			d.app.log.Warn("an intent contradicts what is known; it is kept aside and not performed",
				"effect", s.effect.EffectName(), "key", intents[i].Identity.Key, "origin", intents[i].Origin, "kind", a.Admission)
		}
	}
	s.worker.Nudge()
	return nil
}

// choose finds the records that are to publish an outcome.
func (d *delivery) choose(ctx context.Context, s *sink, outcomes []guard.Announced, known map[int64]prepared) error {
	if len(outcomes) == 0 || s.outcomes == "" {
		return nil
	}
	yes, err := d.app.cfg.gate.Ledger().Publish(ctx, s.effect.EffectName(), outcomes)
	if err != nil {
		d.app.log.Warn("the ledger cannot be asked about outcomes, trying again", "effect", s.effect.EffectName(), "error", err)
		return err
	}
	for i, o := range outcomes {
		p := known[o.Place.Offset]
		p.publish = yes[i]
		known[o.Place.Offset] = p
	}
	return nil
}

// handle ends what ahead began: the outcome becomes visible together with the
// offset of the record that was chosen for it.
func (d *delivery) handle(r *kgo.Record, out *eos.Out) error {
	p := d.lanes[out.Lane()][r.Offset]
	if p.err != nil {
		return p.err
	}
	if p.publish {
		out.Produce(&kgo.Record{Topic: d.of(r.Topic).outcomes, Key: []byte(p.entity), Value: r.Value})
	}
	return nil
}

// announce writes outcomes into the topic of the intents. One that is not
// written is announced again by the worker.
func (d *delivery) announce(s *sink, outcomes [][]byte) {
	for _, data := range outcomes {
		o, err := guard.ParseOutcome(data)
		if err != nil {
			d.app.log.Error("the ledger holds an outcome that cannot be read", "effect", s.effect.EffectName(), "error", err)
			continue
		}
		r := &kgo.Record{Topic: s.intents, Key: []byte(o.By()), Value: data}
		d.client.TryProduce(context.Background(), r, func(_ *kgo.Record, err error) { //nolint:forbidigo // bounded by the delivery timeout
			if err != nil {
				d.app.log.Warn("an outcome could not be announced, trying again later", "effect", s.effect.EffectName(), "key", o.Key, "error", err)
			}
		})
	}
}
