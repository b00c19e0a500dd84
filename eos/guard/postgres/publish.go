package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirstream/weir/eos/guard"
)

// Publish is guard.Ledger's: the mark keeps the place that publishes its outcome.
func (l *Ledger) Publish(ctx context.Context, _ string, outcomes []guard.Announced) (yes []bool, err error) {
	var sums, topics [][]byte
	var parts []int32
	var offsets []int64
	for i := range outcomes {
		o := &outcomes[i]
		sums, topics = append(sums, o.Sum[:]), append(topics, o.Place.TopicID[:])
		parts, offsets = append(parts, o.Place.Partition), append(offsets, o.Place.Offset)
	}
	err = l.db.tx(ctx, func(tx pgx.Tx) error {
		yes = make([]bool, len(outcomes))
		// The first place of each sum, if there is none yet.
		_, err := tx.Exec(ctx, `
UPDATE weir.mark m SET by_topic = u.topic, by_partition = u.part, by_offset = u.off
FROM (
    SELECT DISTINCT ON (sum) * FROM unnest($1::bytea[], $2::bytea[], $3::integer[], $4::bigint[]) WITH ORDINALITY AS v(sum, topic, part, off, place)
    ORDER BY sum, place
) u
WHERE m.sum = u.sum AND m.by_offset IS NULL AND m.ended_at IS NOT NULL`, sums, topics, parts, offsets)
		if err != nil {
			return err
		}
		rows, _ := tx.Query(ctx, `
SELECT u.place - 1
FROM unnest($1::bytea[], $2::bytea[], $3::integer[], $4::bigint[]) WITH ORDINALITY AS u(sum, topic, part, off, place)
JOIN weir.mark m ON m.sum = u.sum AND m.by_topic = u.topic AND m.by_partition = u.part AND m.by_offset = u.off`,
			sums, topics, parts, offsets) // its error comes with the rows
		places, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return err
		}
		for _, at := range places {
			yes[at] = true
		}
		_, err = tx.Exec(ctx, `DELETE FROM weir.outcome WHERE sum = ANY($1)`, sums)
		return err
	})
	return yes, err
}

// Unpublished is guard.Ledger's.
func (l *Ledger) Unpublished(ctx context.Context, effect string, age time.Duration, n int) ([][]byte, error) {
	rows, _ := l.db.pool.Query(ctx, `
SELECT data FROM weir.outcome WHERE effect = $1 AND ended_at <= now() - $2::interval
ORDER BY ended_at LIMIT $3`, effect, age, n) // its error comes with the rows
	return pgx.CollectRows(rows, pgx.RowTo[[]byte])
}
