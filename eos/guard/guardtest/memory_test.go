package guardtest_test

import (
	"testing"

	"github.com/weirstream/weir/eos/guard"
	"github.com/weirstream/weir/eos/guard/guardtest"
)

func TestTheMemoryLedgerPassesTheSuite(t *testing.T) {
	t.Parallel()
	guardtest.TestLedger(t, func(*testing.T) guard.Ledger { return guardtest.NewMemory() })
}
