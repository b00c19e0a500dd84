package killmatrix_test

import (
	"testing"

	"github.com/weirstream/weir/internal/crashtest"
)

func TestMain(m *testing.M) {
	crashtest.Main(m, map[string]crashtest.Func{"engine": runEngine})
}
