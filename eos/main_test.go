package eos_test

import (
	"testing"

	"github.com/weirstream/weir/internal/kafkatest"
)

func TestMain(m *testing.M) { kafkatest.Main(m) }
