package postgres

import (
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/weirstream/weir/eos/guard"
)

// stored is one row of weir.effect.
type stored struct {
	guard.Claimed
	source string
}

// columns are those that read takes, of a row called e, with the ledger's clock
// behind them.
const columns = `e.sum, e.source, e.entity, e.key, e.payload, e.state, e.why, e.token, e.lease_until,
	e.not_before, e.doubts, e.first_sent, e.attempts, e.in_vain, e.absent_since, now()`

// read takes rows of columns; now is the time of the transaction.
func read(rows pgx.Rows) (all []stored, now time.Time, err error) {
	all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (s stored, err error) {
		var sum, key []byte
		var why string
		var lease, notBefore, first, absent pgtype.Timestamptz
		r := &s.Row
		err = row.Scan(&sum, &s.source, &s.Entity, &key, &s.Payload, &r.State, &why, &r.Token, &lease,
			&notBefore, &r.Doubts, &first, &r.Attempts, &r.InVain, &absent, &now)
		if err != nil {
			return s, err
		}
		s.Sum, r.Why = guard.Sum(sum), guard.Why(why)
		r.LeaseUntil, r.FirstSent, r.AbsentSince = lease.Time, first.Time, absent.Time
		if notBefore.InfinityModifier == pgtype.Finite {
			r.NotBefore = notBefore.Time
		}
		s.Key, err = guard.ParseKey(key)
		return s, err
	})
	return all, now, err
}

// unset is NULL for a time that is zero.
func unset(t time.Time) pgtype.Timestamptz { return pgtype.Timestamptz{Time: t, Valid: !t.IsZero()} }

// due is the column not_before of a row: what is parked is never due, and stays
// out of the way of what is.
func due(r guard.Row, now time.Time) pgtype.Timestamptz {
	switch {
	case r.State == guard.Parked:
		return pgtype.Timestamptz{InfinityModifier: pgtype.Infinity, Valid: true}
	case r.NotBefore.IsZero():
		return unset(now)
	}
	return unset(r.NotBefore)
}

// changed collects rows to be written, one array for each column.
type changed struct {
	sums                           [][]byte
	states                         []int16
	whys                           []string
	tokens                         []int64
	leases, dues, firsts, absences []pgtype.Timestamptz
	doubts, attempts, inVain       []int32
}

func (c *changed) add(sum guard.Sum, r guard.Row, now time.Time) {
	c.sums = append(c.sums, sum[:])
	c.states = append(c.states, int16(r.State))
	c.whys = append(c.whys, string(r.Why))
	c.tokens = append(c.tokens, int64(r.Token)) //nolint:gosec // counts changes of hands
	c.leases = append(c.leases, unset(r.LeaseUntil))
	c.dues = append(c.dues, due(r, now))
	c.firsts = append(c.firsts, unset(r.FirstSent))
	c.absences = append(c.absences, unset(r.AbsentSince))
	c.doubts = append(c.doubts, int32(r.Doubts))       //nolint:gosec // bounded by the attempts
	c.attempts = append(c.attempts, int32(r.Attempts)) //nolint:gosec // likewise
	c.inVain = append(c.inVain, int32(r.InVain))       //nolint:gosec // one for each backoff
}

const writeRows = `
UPDATE weir.effect e
SET state = u.state, why = u.why, token = u.token, lease_until = u.lease_until, not_before = u.not_before,
    doubts = u.doubts, first_sent = u.first_sent, attempts = u.attempts, in_vain = u.in_vain, absent_since = u.absent_since
FROM unnest($1::bytea[], $2::smallint[], $3::text[], $4::bigint[], $5::timestamptz[], $6::timestamptz[],
    $7::integer[], $8::timestamptz[], $9::integer[], $10::integer[], $11::timestamptz[])
    AS u(sum, state, why, token, lease_until, not_before, doubts, first_sent, attempts, in_vain, absent_since)
WHERE e.sum = u.sum`

// queue adds the writing of the rows to b.
func (c *changed) queue(b *pgx.Batch) {
	if len(c.sums) > 0 {
		b.Queue(writeRows, c.sums, c.states, c.whys, c.tokens, c.leases, c.dues,
			c.doubts, c.firsts, c.attempts, c.inVain, c.absences)
	}
}

// ended collects effects that are over.
type ended struct {
	sums     [][]byte
	states   []int16
	whys     []string
	results  [][]byte
	outcomes [][]byte // nil: nobody reads them
}

// add books the end of an effect and returns its outcome, if somebody reads it.
func (e *ended) add(o guard.Outcome, wanted bool) (outcome []byte) {
	e.sums = append(e.sums, append([]byte(nil), o.Sum[:]...))
	e.states = append(e.states, int16(o.State))
	e.whys = append(e.whys, string(o.Why))
	e.results = append(e.results, o.Result)
	if wanted {
		outcome = guard.AppendOutcome(nil, o)
		e.outcomes = append(e.outcomes, outcome)
	}
	return outcome
}

// queue adds to b what takes the effects out of the way and leaves their marks.
func (e *ended) queue(b *pgx.Batch, effect string) {
	if len(e.sums) == 0 {
		return
	}
	b.Queue(`DELETE FROM weir.effect WHERE sum = ANY($1)`, e.sums)
	b.Queue(`
UPDATE weir.mark m SET state = u.state, why = u.why, result = u.result, ended_at = now()
FROM unnest($1::bytea[], $2::smallint[], $3::text[], $4::bytea[]) AS u(sum, state, why, result)
WHERE m.sum = u.sum`, e.sums, e.states, e.whys, e.results)
	if len(e.outcomes) > 0 {
		b.Queue(`
INSERT INTO weir.outcome (sum, effect, data)
SELECT u.sum, $1::text, u.data FROM unnest($2::bytea[], $3::bytea[]) AS u(sum, data)
ON CONFLICT DO NOTHING`, effect, e.sums, e.outcomes)
	}
}
