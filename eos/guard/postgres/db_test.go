package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/internal/pgtest"
)

// settings of a database are what an administrator may have set for speed.
func withSettings(t *testing.T, settings ...string) (address string) {
	t.Helper()
	address = pgtest.Database(t)
	conn, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	for _, s := range settings {
		_, err = conn.Exec(t.Context(), "ALTER DATABASE "+conn.Config().Database+" SET "+s)
		require.NoError(t, err)
	}
	return address
}

// TestACommitOfTheLedgerIsOnDiskWhateverTheDatabaseIsSetTo: a claim that a crash
// of the server forgets would be an effect that is performed twice.
func TestACommitOfTheLedgerIsOnDiskWhateverTheDatabaseIsSetTo(t *testing.T) {
	for set, want := range map[string]string{"off": "on", "on": "on", "remote_apply": "remote_apply"} {
		db, err := Open(t.Context(), withSettings(t, "synchronous_commit = "+set))
		require.NoError(t, err)
		var got string
		require.NoError(t, db.pool.QueryRow(t.Context(), "SHOW synchronous_commit").Scan(&got))
		db.Close()
		require.Equal(t, want, got, set)
	}
}

// TestALedgerWantsTheServerThatTakesWrites.
func TestALedgerWantsTheServerThatTakesWrites(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	_, err := Open(ctx, withSettings(t, "default_transaction_read_only = on"))
	require.ErrorIs(t, err, ErrDatabase)
	require.ErrorContains(t, err, "read only")
}

// TestAProcessThatStandsStillInATransactionLetsGoOfItsLocks.
func TestAProcessThatStandsStillInATransactionLetsGoOfItsLocks(t *testing.T) {
	db, err := Open(t.Context(), withSettings(t))
	require.NoError(t, err)
	defer db.Close()
	var got string
	require.NoError(t, db.pool.QueryRow(t.Context(), "SHOW idle_in_transaction_session_timeout").Scan(&got))
	require.Equal(t, "15s", got)
}
