package postgres_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/eos/guard"
	"github.com/weirstream/weir/eos/guard/guardtest"
	"github.com/weirstream/weir/eos/guard/postgres"
	"github.com/weirstream/weir/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func open(t *testing.T) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), pgtest.Database(t))
	require.NoError(t, err)
	t.Cleanup(db.Close)
	return db
}

func TestTheLedgerPassesTheSuite(t *testing.T) {
	guardtest.TestLedger(t, func(t *testing.T) guard.Ledger { t.Helper(); return open(t).Ledger() })
}
