package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrDatabase: the database cannot be used as it is. The text says why and what
// to do.
var ErrDatabase = errors.New("postgres: the database cannot be used")

// DB is a database with the schema weir. Make it with [Open]. It is safe for use
// by many goroutines.
type DB struct{ pool *pgxpool.Pool }

// oldest is the first major version that is supported.
const oldest = 16

// Open connects to a PostgreSQL of version 16 or newer and brings the schema weir
// up to date, unless it is: see [Schema] for roles without the right to create
// anything. address is a URL or a list of settings, as libpq takes it. The error
// matches [ErrDatabase] when a person has to act.
func Open(ctx context.Context, address string) (*DB, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("%w: its address: %w", ErrDatabase, err)
	}
	set := config.ConnConfig.RuntimeParams
	set["application_name"] = "weir"
	set["default_transaction_isolation"] = "read committed"
	// A process that stands still in a transaction holds locks that others wait
	// for. No request to the ledger takes as long.
	set["idle_in_transaction_session_timeout"] = "15s"
	// The clock, the marks and the locks are those of the one server that takes
	// writes.
	config.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	config.AfterConnect = durable
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDatabase, err)
	}
	db := &DB{pool: pool}
	if err := db.check(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return db, nil
}

// durable has a commit wait until it is on disk: a claim that a crash forgets is
// an effect that is performed twice. Servers, databases and roles may be set to
// something weaker; a stronger setting stays.
func durable(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'")
	return err
}

// Close ends all connections. Nothing may be under way.
func (db *DB) Close() { db.pool.Close() }

func (db *DB) check(ctx context.Context) error {
	var version int
	var fsync string
	err := db.pool.QueryRow(ctx, "SELECT current_setting('server_version_num')::int / 10000, current_setting('fsync')").Scan(&version, &fsync)
	if err != nil {
		return fmt.Errorf("%w: no answer: %w", ErrDatabase, err)
	}
	if version < oldest {
		return fmt.Errorf("%w: it is PostgreSQL %d: use %d or newer", ErrDatabase, version, oldest)
	}
	if fsync == "off" {
		return fmt.Errorf("%w: fsync is off, so a crash may forget that an effect was performed: turn it on", ErrDatabase)
	}
	if err := db.migrate(ctx); err != nil {
		return fmt.Errorf("%w: the schema weir cannot be brought up to date; run what Schema prints as a role that may: %w", ErrDatabase, err)
	}
	return nil
}

// Errors after which a transaction has left nothing and may be run again
// (appendix A of the manual of PostgreSQL).
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
)

// txAttempts bounds how often a transaction is run that others made fail.
const txAttempts = 10

// tx runs fn in a transaction, again when the database asks for it. An error
// means that nobody knows whether it took effect.
func (db *DB) tx(ctx context.Context, fn func(pgx.Tx) error) error {
	for n := 1; ; n++ {
		err := pgx.BeginFunc(ctx, db.pool, fn)
		var fault *pgconn.PgError
		again := errors.As(err, &fault) && (fault.Code == serializationFailure || fault.Code == deadlockDetected)
		if !again || n == txAttempts {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Duration(n) * time.Millisecond):
		}
	}
}
