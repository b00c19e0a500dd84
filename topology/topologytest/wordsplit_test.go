package topologytest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/topology"
	"github.com/weirstream/weir/topology/topologytest"
)

// The program of the package documentation, as a user would test it.
func TestWordsplit(t *testing.T) {
	t.Parallel()
	b := topology.New()
	lines := topology.Source(b, "lines", topology.String, topology.String)
	words := topology.FlatMapValues(lines, "split",
		func(line string) ([]string, error) { return strings.Fields(line), nil })
	words.To("words", topology.String, topology.String)
	top, err := b.Build()
	require.NoError(t, err)

	d := topologytest.New(t, top)
	in := topologytest.NewInput(d, "lines", topology.String, topology.String)
	out := topologytest.NewOutput(d, "words", topology.String, topology.String)
	in.Pipe("k", "to be")
	require.Equal(t, []string{"to", "be"}, out.Values())
}
