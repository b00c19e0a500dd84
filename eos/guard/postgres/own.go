package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/weirstream/weir/eos/guard"
)

// Own is guard.Ledger's.
func (l *Ledger) Own(ctx context.Context, application string, effects []string) error {
	var foreign []error
	err := l.db.tx(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
INSERT INTO weir.owner (effect, application) SELECT u.effect, $1 FROM unnest($2::text[]) AS u(effect) ORDER BY u.effect
ON CONFLICT DO NOTHING`, application, effects)
		if err != nil {
			return err
		}
		rows, _ := tx.Query(ctx, "SELECT effect, application FROM weir.owner WHERE effect = ANY($2) AND application <> $1 ORDER BY effect", application, effects) // its error comes with the rows
		foreign = nil
		var effect, owner string
		_, err = pgx.ForEachRow(rows, []any{&effect, &owner}, func() error {
			foreign = append(foreign, guard.Foreign(effect, owner, application))
			return nil
		})
		return err
	})
	return errors.Join(append(foreign, err)...)
}
