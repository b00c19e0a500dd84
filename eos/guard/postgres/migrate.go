package postgres

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrationLock is the advisory lock under which one process at a time brings
// the schema up to date.
const migrationLock = 0x77656972 // "weir"

// head is what must be there before the first migration.
const head = `CREATE SCHEMA IF NOT EXISTS weir;
CREATE TABLE IF NOT EXISTS weir.migration (
    name       text        PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT now()
);
`

// Schema returns everything that [Open] would create, as SQL for a role that may.
// Run by hand, the role of the application needs no more than USAGE on the
// schema weir, and SELECT, INSERT, UPDATE and DELETE on its tables.
func Schema() (string, error) {
	var text strings.Builder
	text.WriteString(head)
	err := each(func(name, sql string) error {
		_, err := fmt.Fprintf(&text, "\n%sINSERT INTO weir.migration (name) VALUES ('%s');\n", sql, name)
		return err
	})
	return text.String(), err
}

// each visits the migrations in order.
func each(visit func(name, sql string) error) error {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	for _, file := range files {
		sql, err := migrations.ReadFile(file)
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(strings.TrimPrefix(file, "migrations/"), ".sql")
		if err := visit(name, string(sql)); err != nil {
			return err
		}
	}
	return nil
}

// migrate brings the schema up to date. A schema that is up to date is only
// read, which needs no right to create anything.
func (db *DB) migrate(ctx context.Context) error {
	missing, err := db.missing(ctx)
	if err != nil || len(missing) == 0 {
		return err
	}
	return db.tx(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", migrationLock); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, head); err != nil {
			return fmt.Errorf("create the schema weir: %w", err)
		}
		return each(func(name, sql string) error {
			tag, err := tx.Exec(ctx, "INSERT INTO weir.migration (name) VALUES ($1) ON CONFLICT DO NOTHING", name)
			if err != nil || tag.RowsAffected() == 0 {
				return err
			}
			if _, err := tx.Exec(ctx, sql); err != nil {
				return fmt.Errorf("migration %s: %w", name, err)
			}
			return nil
		})
	})
}

// missing lists the migrations that have not been applied.
func (db *DB) missing(ctx context.Context) ([]string, error) {
	var exists bool
	err := db.pool.QueryRow(ctx, "SELECT to_regclass('weir.migration') IS NOT NULL").Scan(&exists)
	if err != nil {
		return nil, err
	}
	applied := map[string]bool{}
	if exists {
		rows, _ := db.pool.Query(ctx, "SELECT name FROM weir.migration") // its error comes with the rows
		names, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			applied[name] = true
		}
	}
	var missing []string
	err = each(func(name, _ string) error {
		if !applied[name] {
			missing = append(missing, name)
		}
		return nil
	})
	return missing, err
}
