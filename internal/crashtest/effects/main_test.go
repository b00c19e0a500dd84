package effects_test

import (
	"testing"

	"github.com/weirstream/weir/internal/crashtest"
	"github.com/weirstream/weir/internal/pgtest"
)

func TestMain(m *testing.M) {
	crashtest.Main(m, map[string]crashtest.Func{"shop": runShop}, pgtest.Stop)
}
