package rebalance_test

import (
	"testing"

	"github.com/weirstream/weir/internal/crashtest"
	"github.com/weirstream/weir/internal/crashtest/enginetest"
)

func TestMain(m *testing.M) {
	crashtest.Main(m, map[string]crashtest.Func{enginetest.FuncName: enginetest.Run})
}
