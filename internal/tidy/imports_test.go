package tidy_test

import (
	"testing"

	"github.com/weirstream/weir/internal/tidy"
)

func TestImportsFindsAWrongDirection(t *testing.T) {
	t.Parallel()
	checkExamples(t, tidy.Imports, []example{
		{
			name: "allowed",
			files: map[string]string{
				"topology/a.go":      `package topology; import "fmt"`,
				"eos/a.go":           `package eos; import "github.com/twmb/franz-go/pkg/kgo"`,
				"processor/a.go":     `package processor; import ("github.com/weirstream/weir/eos"; "github.com/weirstream/weir/topology")`,
				"eos/a_test.go":      `package eos_test; import "github.com/weirstream/weir/processor"`,
				"cmd/weir/a.go":      `package main; import "github.com/weirstream/weir/processor"`,
				"internal/proc/a.go": `package proc; import "github.com/weirstream/weir/eos"`,
			},
		},
		{
			name:  "topology imports the engine",
			files: map[string]string{"topology/a.go": `package topology; import "github.com/weirstream/weir/eos"`},
			want:  []string{"topology/a.go:1: topology may not import eos; see docs/architecture.md"},
		},
		{
			name:  "topology imports a module",
			files: map[string]string{"topology/t/a.go": `package t; import "github.com/twmb/franz-go/pkg/kgo"`},
			want:  []string{"topology/t/a.go:1: topology may not import github.com/twmb/franz-go/pkg/kgo; see docs/architecture.md"},
		},
		{
			name:  "engine imports the processor",
			files: map[string]string{"eos/a.go": `package eos; import "github.com/weirstream/weir/processor"`},
			want:  []string{"eos/a.go:1: eos may not import processor; see docs/architecture.md"},
		},
		{
			name:  "boundary imports the engine",
			files: map[string]string{"eos/guard/a.go": `package guard; import "github.com/weirstream/weir/eos"`},
			want:  []string{"eos/guard/a.go:1: eos/guard may not import eos; see docs/architecture.md"},
		},
		{
			name:  "boundary imports a client",
			files: map[string]string{"eos/guard/a.go": `package guard; import "github.com/twmb/franz-go/pkg/kgo"`},
			want:  []string{"eos/guard/a.go:1: eos/guard may not import github.com/twmb/franz-go/pkg/kgo; see docs/architecture.md"},
		},
		{
			name:  "engine imports the embedded cluster",
			files: map[string]string{"eos/a.go": `package eos; import "github.com/twmb/franz-go/pkg/kfake"`},
			want:  []string{"eos/a.go:1: eos may not import github.com/twmb/franz-go/pkg/kfake; see docs/architecture.md"},
		},
		{
			name:  "library imports a program",
			files: map[string]string{"internal/a/a.go": `package a; import "github.com/weirstream/weir/cmd/weir/x"`},
			want:  []string{"internal/a/a.go:1: imports the program cmd/weir/x: move what is shared into a library"},
		},
	})
}

func TestTestFrameworkFindsTestImportsInShippedCode(t *testing.T) {
	t.Parallel()
	checkExamples(t, tidy.TestFramework, []example{
		{
			name: "allowed",
			files: map[string]string{
				"topology/topologytest/a.go": `package topologytest; import "testing"`,
				"internal/kafkatest/a.go":    `package kafkatest; import ("testing"; "github.com/stretchr/testify/require")`,
				"eos/a_test.go":              `package eos_test; import "github.com/weirstream/weir/internal/kafkatest"`,
			},
		},
		{
			name: "refused",
			files: map[string]string{
				"eos/a.go":                   `package eos; import "testing/fstest"`,
				"cmd/weir/a.go":              `package main; import "github.com/weirstream/weir/internal/kafkatest"`,
				"processor/a.go":             `package processor; import "github.com/stretchr/testify/require"`,
				"topology/topologytest/a.go": `package topologytest; import "github.com/stretchr/testify/require"`,
			},
			want: []string{
				"cmd/weir/a.go:1: shipped code imports github.com/weirstream/weir/internal/kafkatest, which is for tests only",
				"eos/a.go:1: shipped code imports testing/fstest, which is for tests only",
				"processor/a.go:1: shipped code imports github.com/stretchr/testify/require, which is for tests only",
				"topology/topologytest/a.go:1: shipped code imports github.com/stretchr/testify/require, which is for tests only",
			},
		},
	})
}

func TestLinkedFollowsImportsThroughThePackages(t *testing.T) {
	t.Parallel()
	checkExamples(t, tidy.Linked, []example{
		{
			name: "programs and tests may link it",
			files: map[string]string{
				"cmd/weir/a.go":            `package main; import "github.com/weirstream/weir/internal/devcluster"`,
				"internal/devcluster/a.go": `package devcluster; import "github.com/twmb/franz-go/pkg/kfake"`,
				"processor/a.go":           `package processor; import "github.com/weirstream/weir/eos"`,
				"processor/a_test.go":      `package processor_test; import "github.com/weirstream/weir/internal/devcluster"`,
			},
		},
		{
			name: "two steps away",
			files: map[string]string{
				"processor/a.go":           `package processor; import "github.com/weirstream/weir/internal/gate"`,
				"internal/gate/a.go":       `package gate; import "github.com/weirstream/weir/internal/devcluster"`,
				"internal/devcluster/a.go": `package devcluster; import "github.com/twmb/franz-go/pkg/kfake"`,
			},
			want: []string{"internal/devcluster/a.go:1: kfake is linked into every program that imports processor" +
				" (processor -> internal/gate -> internal/devcluster -> github.com/twmb/franz-go/pkg/kfake)"},
		},
	})
}
