package effects_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/eos/guard"
	"github.com/weirstream/weir/internal/crashtest"
	"github.com/weirstream/weir/internal/crashtest/verdict"
)

// tally is what the orders came to at the bank.
type tally struct {
	orders, once, doubled, missing int
	parked                         int    // wait for a person; only effects at most once may
	resent                         int    // effects at most once that were asked for more than once
	stuck                          int    // parked, and of another class
	first                          string // the first order that is wrong, and how
}

// clean says that every effect happened once, or waits for a person as it must
// and happened at most once.
func (t tally) clean() bool { return t.orders > 0 && t.doubled+t.missing+t.resent+t.stuck == 0 }

func (t tally) String() string {
	text := fmt.Sprintf("%d orders: %d charged once, %d doubled, %d missing, %d parked", t.orders, t.once, t.doubled, t.missing, t.parked)
	if t.resent > 0 {
		text += fmt.Sprintf(", %d sent again", t.resent)
	}
	if t.first != "" {
		text += "; first: " + t.first
	}
	return text
}

// tally counts at the bank.
func (s *scene) tally(parked map[string]bool) tally {
	s.t.Helper()
	var out tally
	wrong := func(n *int, id, how string) {
		*n++
		if out.first == "" {
			out.first = id + " " + how
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.orders())) {
		out.orders++
		n := s.bank.Effects(id)
		switch {
		case n > 1:
			wrong(&out.doubled, id, fmt.Sprintf("was charged %d times", n))
		case n == 0 && !parked[id]:
			wrong(&out.missing, id, "was never charged")
		case n == 1:
			out.once++
		}
		if parked[id] {
			out.parked++
			if s.config.Class != atMostOnce {
				wrong(&out.stuck, id, "is parked")
			}
		}
		if posts := s.bank.Posts(id); s.config.Class == atMostOnce && posts > 1 {
			wrong(&out.resent, id, fmt.Sprintf("was asked for %d times", posts))
		}
	}
	return out
}

// parked are the orders that wait for a person.
func (s *scene) parked() map[string]bool {
	s.t.Helper()
	rows, err := s.db.Query(s.t.Context(), "SELECT entity FROM weir.effect WHERE state = $1", int16(guard.Parked))
	require.NoError(s.t, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(s.t, err)
	out := map[string]bool{}
	for _, id := range ids {
		out[id] = true
	}
	return out
}

// app is what the outcomes are judged by: one for the first of each order that is
// not parked.
func (s *scene) app(parked map[string]bool) crashtest.App {
	seen := map[string]bool{}
	return crashtest.App{
		Group: s.config.App, TransactionalIDs: s.config.App, Inputs: []string{s.config.In}, Outputs: []string{s.config.Out},
		Oracle: func(r verdict.Record) []verdict.Out {
			id := string(r.Value)
			if seen[id] || parked[id] {
				return nil
			}
			seen[id] = true
			return []verdict.Out{{Topic: s.config.Out, Key: r.Value, Value: []byte(line(id, "done"))}}
		},
	}
}

// ledgerFaults is what is wrong in the ledger; empty: nothing.
func (s *scene) ledgerFaults(t tally) string {
	s.t.Helper()
	var faults []string
	for what, sql := range map[string]string{
		"conflicts": "SELECT count(*) FROM weir.conflict",
		"open":      fmt.Sprintf("SELECT count(*) FROM weir.effect WHERE state <> %d", guard.Parked),
		"unchosen":  fmt.Sprintf("SELECT count(*) FROM weir.mark WHERE state = %d AND by_offset IS NULL", guard.Done),
	} {
		if n := s.ask(sql); n != 0 {
			faults = append(faults, fmt.Sprintf("%d %s", n, what))
		}
	}
	if done := s.ask("SELECT count(*) FROM weir.mark WHERE state = $1", int16(guard.Done)); done != t.orders-t.parked {
		faults = append(faults, fmt.Sprintf("%d done of %d", done, t.orders-t.parked))
	}
	slices.Sort(faults)
	return strings.Join(faults, ", ")
}
