package guardtest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/weirstream/weir/eos/guard"
)

// Memory is a ledger that forgets everything when the process ends: for tests
// only. Its clock is time.Now, so that it runs on the virtual time of a
// testing/synctest bubble. The zero Memory is not ready: use [NewMemory].
type Memory struct {
	mu       sync.Mutex
	origins  map[madeAt]guard.Sum
	marks    map[guard.Sum]*mark
	open     []*entry // in the order of admission
	outcomes []waiting
	owners   map[string]string // effect -> application
	fail     error
}

type madeAt struct {
	effect  string
	origin  guard.Origin
	ordinal int32
}

type mark struct {
	print guard.Fingerprint
	state guard.State
	place *guard.Origin
}

type entry struct {
	guard.Claimed
	effect, by string
}

type waiting struct {
	effect string
	sum    guard.Sum
	data   []byte
	since  time.Time
}

// NewMemory returns an empty ledger.
func NewMemory() *Memory {
	return &Memory{origins: map[madeAt]guard.Sum{}, marks: map[guard.Sum]*mark{}, owners: map[string]string{}}
}

var _ guard.Ledger = (*Memory)(nil)

// Fail makes every call fail with err until it is called with nil.
func (m *Memory) Fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = err
}

// State is the state of an effect; 0: it was never admitted.
func (m *Memory) State(sum guard.Sum) guard.State {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k, ok := m.marks[sum]; ok {
		return k.state
	}
	return 0
}

// Own implements guard.Ledger.
func (m *Memory) Own(_ context.Context, application string, effects []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	var foreign []error
	for _, effect := range effects {
		if _, ok := m.owners[effect]; !ok {
			m.owners[effect] = application
		}
		if owner := m.owners[effect]; owner != application {
			foreign = append(foreign, guard.Foreign(effect, owner, application))
		}
	}
	return errors.Join(foreign...)
}

// Admit implements guard.Ledger.
func (m *Memory) Admit(_ context.Context, effect string, intents []guard.Intent) ([]guard.Admitted, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return nil, m.fail
	}
	all := make([]guard.Admitted, len(intents))
	for i, in := range intents {
		all[i] = m.admit(effect, in)
	}
	return all, nil
}

func (m *Memory) admit(effect string, in guard.Intent) guard.Admitted {
	from := madeAt{effect, in.Origin, in.Ordinal}
	if sum, ok := m.origins[from]; ok && sum != in.Sum {
		return guard.Admitted{Admission: guard.SecondKey}
	}
	m.origins[from] = in.Sum
	if k, ok := m.marks[in.Sum]; ok {
		if k.print != in.Identity.Fingerprint {
			return guard.Admitted{Admission: guard.Conflict, State: k.state}
		}
		return guard.Admitted{Admission: guard.Duplicate, State: k.state}
	}
	m.marks[in.Sum] = &mark{print: in.Identity.Fingerprint, state: guard.Intended}
	m.open = append(m.open, &entry{effect: effect, by: in.By(), Claimed: guard.Claimed{
		Row: guard.Row{State: guard.Intended}, Sum: in.Sum, Key: in.Identity.Key,
		Entity: in.Identity.Entity, Payload: bytes.Clone(in.Payload),
	}})
	return guard.Admitted{Admission: guard.Fresh, State: guard.Intended}
}

// Claim implements guard.Ledger.
func (m *Memory) Claim(_ context.Context, effect string, d guard.Delivery, n int) ([]guard.Claimed, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return nil, m.fail
	}
	var claimed []guard.Claimed
	now := time.Now()
	for _, line := range m.lines(effect) {
		states := make([]guard.State, len(line))
		for i, e := range line {
			states[i] = e.Row.State
		}
		claimable, superseded := d.Order.Line(states)
		for _, i := range claimable {
			if len(claimed) == n {
				break
			}
			row, work := line[i].Row.Claim(d.Policy, now, d.Lease)
			m.write(line[i], row)
			if work != guard.Nothing {
				line[i].Work = work
				claimed = append(claimed, line[i].Claimed)
			}
		}
		for _, i := range superseded {
			row := line[i].Row
			row.State = guard.Superseded
			m.write(line[i], row)
			m.end(line[i], guard.Finished{Claimed: line[i].Claimed}.Outcome(row), d)
		}
	}
	return claimed, nil
}

// lines parts what is open by what is in order, oldest first.
func (m *Memory) lines(effect string) [][]*entry {
	places := map[string]int{}
	var lines [][]*entry
	for _, e := range m.open {
		if e.effect != effect {
			continue
		}
		at, ok := places[e.by]
		if !ok {
			at = len(lines)
			places[e.by], lines = at, append(lines, nil)
		}
		lines[at] = append(lines[at], e)
	}
	return lines
}

func (m *Memory) write(e *entry, row guard.Row) {
	e.Row = row
	m.marks[e.Sum].state = row.State
}

// end takes an effect out of the way and keeps its outcome.
func (m *Memory) end(e *entry, o guard.Outcome, d guard.Delivery) (outcome []byte) {
	m.open = slices.DeleteFunc(m.open, func(x *entry) bool { return x == e })
	if d.Outcomes {
		outcome = guard.AppendOutcome(nil, o)
		m.outcomes = append(m.outcomes, waiting{e.effect, e.Sum, outcome, time.Now()})
	}
	return outcome
}

// Finish implements guard.Ledger.
func (m *Memory) Finish(_ context.Context, _ string, d guard.Delivery, results []guard.Finished) ([]guard.Booked, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return nil, m.fail
	}
	booked := make([]guard.Booked, len(results))
	for i, f := range results {
		at := slices.IndexFunc(m.open, func(e *entry) bool { return e.Sum == f.Sum })
		if at < 0 {
			booked[i] = guard.Booked{Fenced: true}
			continue
		}
		row, fenced := f.Book(m.open[at].Row, d.Policy, time.Now(), time.Since(f.Began))
		booked[i] = guard.Booked{Fenced: fenced, State: row.State}
		if fenced {
			continue
		}
		e := m.open[at]
		m.write(e, row)
		if row.State.Over() {
			booked[i].Outcome = m.end(e, f.Outcome(row), d)
		}
	}
	return booked, nil
}

// Publish implements guard.Ledger.
func (m *Memory) Publish(_ context.Context, _ string, outcomes []guard.Announced) ([]bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return nil, m.fail
	}
	yes := make([]bool, len(outcomes))
	for i, o := range outcomes {
		k, ok := m.marks[o.Sum]
		if !ok || !k.state.Over() {
			continue
		}
		if k.place == nil {
			k.place = &o.Place
		}
		yes[i] = *k.place == o.Place
		m.outcomes = slices.DeleteFunc(m.outcomes, func(w waiting) bool { return w.sum == o.Sum })
	}
	return yes, nil
}

// Unpublished implements guard.Ledger.
func (m *Memory) Unpublished(_ context.Context, effect string, age time.Duration, n int) ([][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return nil, m.fail
	}
	var all [][]byte
	for _, w := range m.outcomes {
		if w.effect == effect && time.Since(w.since) >= age && len(all) < n {
			all = append(all, w.data)
		}
	}
	return all, nil
}
