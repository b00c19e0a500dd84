package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirstream/weir/eos/guard"
)

// heads takes what is due: with an order, only what nothing of its entity stands
// in front of. What another worker is taking right now is passed by.
const heads = `
SELECT ` + columns + `
FROM weir.effect e
WHERE e.effect = $1 AND e.not_before <= now() AND (e.lease_until IS NULL OR e.lease_until <= now())
    AND ($3 OR NOT EXISTS (
        SELECT FROM weir.effect b
        WHERE b.effect = e.effect AND b.source = e.source AND b.entity = e.entity AND b.seq < e.seq))
ORDER BY e.not_before, e.seq
LIMIT $2
FOR UPDATE SKIP LOCKED`

// behind takes everything of the entities of some heads, the heads included.
const behind = `
SELECT ` + columns + `
FROM weir.effect e
JOIN unnest($2::text[], $3::text[]) AS u(source, entity) ON e.source = u.source AND e.entity = u.entity
WHERE e.effect = $1
ORDER BY e.source, e.entity, e.seq
FOR UPDATE OF e`

// Claim is guard.Ledger's.
func (l *Ledger) Claim(ctx context.Context, effect string, d guard.Delivery, n int) (claimed []guard.Claimed, err error) {
	err = l.db.tx(ctx, func(tx pgx.Tx) error {
		claimed = nil
		rows, _ := tx.Query(ctx, heads, effect, n, d.Order == guard.Unordered) // its error comes with the rows
		due, now, err := read(rows)
		if err != nil || len(due) == 0 {
			return err
		}
		c := taking{d: d, now: now}
		if d.Order == guard.SkipSuperseded {
			if due, err = l.lines(ctx, tx, effect, due); err != nil {
				return err
			}
			c.skip(due)
		} else {
			for i := range due {
				c.take(&due[i])
			}
		}
		claimed = c.claimed
		return c.write(ctx, tx, effect)
	})
	if err != nil {
		return nil, err
	}
	return claimed, nil
}

// lines reads everything that waits behind the heads.
func (l *Ledger) lines(ctx context.Context, tx pgx.Tx, effect string, due []stored) ([]stored, error) {
	var sources, entities []string
	for _, s := range due {
		sources, entities = append(sources, s.source), append(entities, s.Entity)
	}
	rows, _ := tx.Query(ctx, behind, effect, sources, entities) // its error comes with the rows
	all, _, err := read(rows)
	return all, err
}

// taking decides about rows that are locked.
type taking struct {
	d       guard.Delivery
	now     time.Time
	claimed []guard.Claimed
	changed changed
	ended   ended
	lapsed  attempts
}

// take claims one row, if there is something to do with it.
func (c *taking) take(s *stored) {
	was := s.Row
	row, work := was.Claim(c.d.Policy, c.now, c.d.Lease)
	if row == was {
		return
	}
	if was.State == guard.InFlight {
		lapsed := s.Claimed
		lapsed.Work = guard.Send
		c.lapsed.add(lapsed, "lease over", "no word from its worker", 0, true)
	}
	c.changed.add(s.Sum, row, c.now)
	if work != guard.Nothing {
		s.Row, s.Work = row, work
		c.claimed = append(c.claimed, s.Claimed)
	}
}

// skip goes through the lines of SkipSuperseded, which follow each other.
func (c *taking) skip(all []stored) {
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].source == all[0].source && all[n].Entity == all[0].Entity {
			n++
		}
		states := make([]guard.State, n)
		for i := range states {
			states[i] = all[i].Row.State
		}
		claimable, superseded := c.d.Order.Line(states)
		for _, i := range superseded {
			c.ended.add(guard.Finished{Claimed: all[i].Claimed}.Outcome(guard.Row{State: guard.Superseded}), c.d.Outcomes)
		}
		for _, i := range claimable {
			c.take(&all[i])
		}
		all = all[n:]
	}
}

func (c *taking) write(ctx context.Context, tx pgx.Tx, effect string) error {
	b := &pgx.Batch{}
	c.changed.queue(b)
	c.ended.queue(b, effect)
	c.lapsed.queue(b)
	return tx.SendBatch(ctx, b).Close()
}
