package postgres

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/weirstream/weir/eos/guard"
)

// Ledger is the boundary's ledger in a database.
type Ledger struct{ db *DB }

var _ guard.Ledger = (*Ledger)(nil)

// Ledger returns the ledger of the database.
func (db *DB) Ledger() *Ledger { return &Ledger{db} }

// Admit is guard.Ledger's: origins first, then marks, whose primary key decides
// between processes, then the rows of those that were new.
func (l *Ledger) Admit(ctx context.Context, effect string, intents []guard.Intent) (all []guard.Admitted, err error) {
	err = l.db.tx(ctx, func(tx pgx.Tx) error {
		a := admission{effect: effect, intents: intents, all: make([]guard.Admitted, len(intents))}
		all = a.all
		for _, step := range []func(context.Context, pgx.Tx) error{a.origins, a.marks, a.known, a.rows, a.conflicts} {
			if err := step(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
	return all, err
}

// admission is one Admit on its way.
type admission struct {
	effect  string
	intents []guard.Intent
	all     []guard.Admitted
}

// origins remembers the key of each origin, and finds those that have another.
func (a *admission) origins(ctx context.Context, tx pgx.Tx) error {
	var ids, sums [][]byte
	var parts, ordinals []int32
	var offsets []int64
	for i := range a.intents {
		in := &a.intents[i]
		ids, sums = append(ids, in.Origin.TopicID[:]), append(sums, in.Sum[:])
		parts, ordinals = append(parts, in.Origin.Partition), append(ordinals, in.Ordinal)
		offsets = append(offsets, in.Origin.Offset)
	}
	const insert = `
INSERT INTO weir.origin (effect, topic_id, "partition", "offset", ordinal, sum)
SELECT $1::text, u.* FROM unnest($2::bytea[], $3::integer[], $4::bigint[], $5::integer[], $6::bytea[]) AS u(topic_id, p, o, n, sum)
ORDER BY topic_id, p, o, n
ON CONFLICT DO NOTHING`
	if _, err := tx.Exec(ctx, insert, a.effect, ids, parts, offsets, ordinals, sums); err != nil {
		return err
	}
	// A statement of its own: it sees what a rival committed while the first waited.
	const other = `
SELECT u.place - 1
FROM unnest($2::bytea[], $3::integer[], $4::bigint[], $5::integer[], $6::bytea[]) WITH ORDINALITY AS u(topic_id, p, o, n, sum, place)
JOIN weir.origin w ON w.effect = $1 AND w.topic_id = u.topic_id AND w."partition" = u.p AND w."offset" = u.o AND w.ordinal = u.n
WHERE w.sum <> u.sum`
	rows, _ := tx.Query(ctx, other, a.effect, ids, parts, offsets, ordinals, sums) // its error comes with the rows
	places, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	for _, at := range places {
		a.all[at].Admission = guard.SecondKey
	}
	return err
}

// marks inserts the mark of the first intent of each key; those that are new are
// Fresh. They are sorted, so that two processes wait for each other in one order.
func (a *admission) marks(ctx context.Context, tx pgx.Tx) error {
	first := map[guard.Sum]int{}
	var order []int
	for i := range a.intents {
		if _, again := first[a.intents[i].Sum]; again || a.all[i].Admission != 0 {
			continue
		}
		first[a.intents[i].Sum] = i
		order = append(order, i)
	}
	slices.SortFunc(order, func(x, y int) int { return bytes.Compare(a.intents[x].Sum[:], a.intents[y].Sum[:]) })
	var sums, keys, prints [][]byte
	var sources []string
	var issued []pgtype.Timestamptz
	for _, i := range order {
		in := &a.intents[i]
		sums, keys = append(sums, in.Sum[:]), append(keys, in.Identity.Key.Bytes())
		prints, sources = append(prints, in.Identity.Fingerprint[:]), append(sources, in.Identity.Key.Source())
		issued = append(issued, unset(in.Identity.IssuedAt))
	}
	rows, _ := tx.Query(ctx, `
INSERT INTO weir.mark (sum, effect, source, key, fingerprint, issued_at, state)
SELECT u.sum, $1::text, u.source, u.key, u.fingerprint, u.issued_at, $7::smallint
FROM unnest($2::bytea[], $3::text[], $4::bytea[], $5::bytea[], $6::timestamptz[]) AS u(sum, source, key, fingerprint, issued_at)
ON CONFLICT DO NOTHING
RETURNING sum`, a.effect, sums, sources, keys, prints, issued, int16(guard.Intended)) // its error comes with the rows
	inserted, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	for _, sum := range inserted {
		a.all[first[guard.Sum(sum)]] = guard.Admitted{Admission: guard.Fresh, State: guard.Intended}
	}
	return err
}

// known compares the others with the marks that are there, and says how far their
// effects are: a mark knows it when they are over. A statement of its own: it sees
// a mark that a rival committed while ours waited for it.
func (a *admission) known(ctx context.Context, tx pgx.Tx) error {
	var sums [][]byte
	for i := range a.intents {
		if a.all[i].Admission == 0 {
			sums = append(sums, a.intents[i].Sum[:])
		}
	}
	if len(sums) == 0 {
		return nil
	}
	type mark struct {
		print []byte
		state guard.State
	}
	marks := map[guard.Sum]mark{}
	rows, _ := tx.Query(ctx, `
SELECT m.sum, m.fingerprint, coalesce(e.state, m.state)
FROM weir.mark m LEFT JOIN weir.effect e ON e.sum = m.sum
WHERE m.sum = ANY($1)`, sums) // its error comes with the rows
	var sum []byte
	var m mark
	_, err := pgx.ForEachRow(rows, []any{&sum, &m.print, &m.state}, func() error {
		marks[guard.Sum(sum)] = mark{bytes.Clone(m.print), m.state}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range a.intents {
		if a.all[i].Admission != 0 {
			continue
		}
		known, ok := marks[a.intents[i].Sum]
		if !ok {
			return fmt.Errorf("postgres: the mark of %s was deleted a moment ago", a.intents[i].Identity.Key)
		}
		a.all[i] = guard.Admitted{Admission: guard.Duplicate, State: known.state}
		if !bytes.Equal(known.print, a.intents[i].Identity.Fingerprint[:]) {
			a.all[i].Admission = guard.Conflict
		}
	}
	return nil
}

// rows makes the rows of what is Fresh. Their numbers follow the order of the
// intents, which is that of the entity.
func (a *admission) rows(ctx context.Context, tx pgx.Tx) error {
	var sums, keys, payloads [][]byte
	var sources, entities []string
	for i := range a.intents {
		if a.all[i].Admission != guard.Fresh {
			continue
		}
		in := &a.intents[i]
		sums, keys, payloads = append(sums, in.Sum[:]), append(keys, in.Identity.Key.Bytes()), append(payloads, in.Payload)
		sources, entities = append(sources, in.Identity.Key.Source()), append(entities, in.Identity.Entity)
	}
	if len(sums) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `
INSERT INTO weir.effect (sum, effect, source, entity, key, payload, state)
SELECT u.sum, $1::text, u.source, u.entity, u.key, u.payload, $7::smallint
FROM unnest($2::bytea[], $3::text[], $4::text[], $5::bytea[], $6::bytea[]) WITH ORDINALITY AS u(sum, source, entity, key, payload, place)
ORDER BY u.place`, a.effect, sums, sources, entities, keys, payloads, int16(guard.Intended))
	return err
}

// conflicts keeps what contradicts, once for each place in Kafka.
func (a *admission) conflicts(ctx context.Context, tx pgx.Tx) error {
	b := &pgx.Batch{}
	for i := range a.intents {
		kind := a.all[i].Admission
		if kind != guard.Conflict && kind != guard.SecondKey {
			continue
		}
		in := &a.intents[i]
		b.Queue(`
INSERT INTO weir.conflict (kind, effect, source, sum, key, fingerprint, payload, topic, topic_id, "partition", "offset", ordinal)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING`,
			kind.String(), a.effect, in.Identity.Key.Source(), in.Sum[:], in.Identity.Key.Bytes(), in.Identity.Fingerprint[:], in.Payload,
			in.Origin.Topic, in.Origin.TopicID[:], in.Origin.Partition, in.Origin.Offset, in.Ordinal)
	}
	return tx.SendBatch(ctx, b).Close()
}
