package guard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Declared is an effect of any payload: what [New] takes. Only an [Effect] is
// one.
type Declared interface {
	// EffectName is the name.
	EffectName() string
	// Guarantee is the class, what it promises, and what happens in doubt.
	Guarantee() (class, claim, onUnknown string)
	// Delivery is how it is delivered.
	Delivery() Delivery
	// Open reads an intent and derives its identity again.
	Open(record []byte) (Intent, error)
	// Perform makes one attempt, for a delivery that has claimed the effect.
	Perform(ctx context.Context, call Call, payload []byte) Reply
	// Find makes one look-up, for a delivery that is in doubt.
	Find(ctx context.Context, call Call, payload []byte) Answer
	check() error
	row() tableRow
}

// Gate is every effect of an application, checked, and the ledger that arbitrates
// between its processes. It never changes.
type Gate struct {
	ledger  Ledger
	effects []Declared
}

// New checks effects and returns the gate through which they may leave. The
// error joins everything that is wrong, one line each; each matches
// [ErrDeclaration].
func New(ledger Ledger, effects ...Declared) (*Gate, error) {
	var faults []error
	if ledger == nil {
		faults = append(faults, errors.New("there is no ledger: where is it to be known that an effect has happened?"))
	}
	seen := map[string]bool{}
	contracts := map[string]tableRow{}
	for i, e := range effects {
		if e == nil {
			faults = append(faults, fmt.Errorf("effect %d is nil", i+1))
			continue
		}
		name := e.EffectName()
		if seen[name] {
			faults = append(faults, fmt.Errorf("effect %s: two effects have this name, and would share their marks", shown(name)))
		}
		seen[name] = true
		if err := e.check(); err != nil {
			faults = append(faults, err)
		}
		row := e.row()
		if first, ok := contracts[row.source]; ok && (first.issuedBy != row.issuedBy || first.lives != row.lives) {
			faults = append(faults, fmt.Errorf("effect %s: source %s is declared differently at effect %s: one sender has one contract",
				shown(name), shown(row.source), shown(first.effect)))
		} else if !ok {
			contracts[row.source] = row
		}
	}
	if len(faults) > 0 {
		return nil, declarationError(faults)
	}
	return &Gate{ledger: ledger, effects: slices.Clone(effects)}, nil
}

// ErrDeclaration: an effect is declared in a way that cannot be safe, or not
// completely. Nothing has been performed.
var ErrDeclaration = errors.New("effects are not declared safely")

// declarationError gives each fault a line of its own.
func declarationError(faults []error) error {
	var lines []error
	for _, f := range faults {
		for line := range strings.SplitSeq(f.Error(), "\n") {
			lines = append(lines, fmt.Errorf("guard: %w: %s", ErrDeclaration, line))
		}
	}
	return errors.Join(lines...)
}

// Ledger is the one given to [New].
func (g *Gate) Ledger() Ledger { return g.ledger }

// Effects are all effects, in the order of [New].
func (g *Gate) Effects() []Declared { return slices.Clone(g.effects) }

// Names are the effects' names, in the order of [New].
func (g *Gate) Names() []string {
	names := make([]string, len(g.effects))
	for i, e := range g.effects {
		names[i] = e.EffectName()
	}
	return names
}

// Knows says whether the gate lets the effect through.
func (g *Gate) Knows(effect string) bool { return g != nil && slices.Contains(g.Names(), effect) }

// tableRow is an effect in the guarantee table.
type tableRow struct {
	effect, class, claim, unknown string
	source, issuedBy, identity    string
	lives                         time.Duration
	delivery, note                string
	alarm                         time.Time // when the note has to be looked at again; zero: never
}

// Explain returns the guarantee table: a line for each effect with its class,
// what it promises, what happens in doubt, and on what that rests. now decides
// which waivers have run out.
func (g *Gate) Explain(now time.Time) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "effect\tclass\tpromise\tin doubt\tidentity\tdelivery\trests on")
	for _, e := range g.effects {
		r := e.row()
		note := r.note
		if !r.alarm.IsZero() && now.After(r.alarm) {
			note += " (EXPIRED)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.effect, r.class, r.claim, r.unknown, r.identity, r.delivery, note)
	}
	_ = w.Flush() // a strings.Builder takes every write
	return text.String()
}

// Expired are the effects whose waiver has run out at now.
func (g *Gate) Expired(now time.Time) []string {
	var names []string
	for _, e := range g.effects {
		if at := e.row().alarm; !at.IsZero() && now.After(at) {
			names = append(names, e.EffectName())
		}
	}
	return names
}

func (e *Effect[P]) row() tableRow {
	s := e.event.source
	r := tableRow{
		effect: e.name, source: s.Name, issuedBy: s.IssuedBy, lives: s.Lives, delivery: e.delivery.String(),
		identity: fmt.Sprintf("%s, ids by %s, repeated for %v", s.Name, s.IssuedBy, s.Lives),
	}
	r.class, r.claim, r.unknown = e.Guarantee()
	if s.RepeatsMayChange {
		r.identity += ", repeats may change"
	}
	switch e.class {
	case ClassKeyed:
		r.note = fmt.Sprintf("%s knows a key for %v; absent settles in %v", e.contract.Remote, e.contract.Window, e.settle)
	case ClassReconciled:
		r.note = fmt.Sprintf("absent settles in %v", e.settle)
	case ClassAtLeastOnce:
		r.note = fmt.Sprintf("accepted by %s until %s: %s", e.waiver.Owner, e.waiver.Until.UTC().Format(time.DateOnly), e.waiver.Reason)
		r.alarm = e.waiver.Until
	case ClassNatural:
		r.note = "its author: doing it again changes nothing"
	case ClassConditional:
		r.note = "the receiver's condition"
	case ClassTransactional:
		r.note = "the mark's unique index"
	case ClassAtMostOnce:
		r.note = "the attempt is durable before the call"
	}
	return r
}
