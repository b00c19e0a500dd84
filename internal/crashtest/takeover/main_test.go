package takeover_test

import (
	"testing"

	"github.com/weirstream/weir/internal/crashtest"
	"github.com/weirstream/weir/internal/crashtest/engineworker"
)

func TestMain(m *testing.M) {
	crashtest.Main(m, map[string]crashtest.Func{engineworker.FuncName: engineworker.Run})
}
