package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirstream/weir/eos/guard"
)

// Finish is guard.Ledger's. A row that is gone has been finished already, by
// another worker or by a call whose answer was lost.
func (l *Ledger) Finish(ctx context.Context, effect string, d guard.Delivery, results []guard.Finished) (booked []guard.Booked, err error) {
	var sums [][]byte
	for i := range results {
		sums = append(sums, results[i].Sum[:])
	}
	err = l.db.tx(ctx, func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, `SELECT `+columns+` FROM weir.effect e WHERE e.sum = ANY($1) ORDER BY e.sum FOR UPDATE`, sums) // its error comes with the rows
		all, now, err := read(rows)
		if err != nil {
			return err
		}
		open := map[guard.Sum]guard.Row{}
		for _, s := range all {
			open[s.Sum] = s.Row
		}
		f := finishing{d: d, now: now, booked: make([]guard.Booked, len(results))}
		for i := range results {
			f.book(i, results[i], open)
		}
		booked = f.booked
		return f.write(ctx, tx, effect)
	})
	if err != nil {
		return nil, err
	}
	return booked, nil
}

// finishing is one Finish on its way.
type finishing struct {
	d       guard.Delivery
	now     time.Time
	booked  []guard.Booked
	changed changed
	ended   ended
	tried   attempts
}

func (f *finishing) book(i int, r guard.Finished, open map[guard.Sum]guard.Row) {
	row, there := open[r.Sum]
	fenced := !there
	if there {
		row, fenced = r.Book(row, f.d.Policy, f.now, time.Since(r.Began))
	}
	f.booked[i] = guard.Booked{Fenced: fenced, State: row.State}
	said, detail := r.Said()
	f.tried.add(r.Claimed, said, detail, r.Ended.Sub(r.Began), fenced)
	switch {
	case fenced:
	case row.State.Over():
		f.booked[i].Outcome = f.ended.add(r.Outcome(row), f.d.Outcomes)
	default:
		f.changed.add(r.Sum, row, f.now)
	}
}

func (f *finishing) write(ctx context.Context, tx pgx.Tx, effect string) error {
	b := &pgx.Batch{}
	f.changed.queue(b)
	f.ended.queue(b, effect)
	f.tried.queue(b)
	return tx.SendBatch(ctx, b).Close()
}

// attempts collects what is written about attempts and look-ups.
type attempts struct {
	sums                [][]byte
	tokens              []int64
	works, saids, notes []string
	tooks               []time.Duration
	fenced              []bool
}

func (a *attempts) add(c guard.Claimed, said, detail string, took time.Duration, fenced bool) {
	a.sums = append(a.sums, append([]byte(nil), c.Sum[:]...))
	a.tokens = append(a.tokens, int64(c.Row.Token)) //nolint:gosec // counts changes of hands
	a.works = append(a.works, c.Work.String())
	a.saids, a.notes = append(a.saids, said), append(a.notes, detail)
	a.tooks, a.fenced = append(a.tooks, took), append(a.fenced, fenced)
}

// queue adds the writing to b. What comes late about an attempt that was taken
// for lost is the better word; that of a call whose answer was lost stays as it is.
func (a *attempts) queue(b *pgx.Batch) {
	if len(a.sums) == 0 {
		return
	}
	b.Queue(`
INSERT INTO weir.attempt (sum, token, work, said, detail, took, fenced)
SELECT u.* FROM unnest($1::bytea[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::interval[], $7::boolean[])
    AS u(sum, token, work, said, detail, took, fenced)
ON CONFLICT (sum, token) DO UPDATE
SET work = excluded.work, said = excluded.said, detail = excluded.detail, took = excluded.took, fenced = attempt.fenced AND excluded.fenced, booked_at = now()`,
		a.sums, a.tokens, a.works, a.saids, a.notes, a.tooks, a.fenced)
}
