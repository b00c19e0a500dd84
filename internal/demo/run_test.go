package demo_test

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/internal/demo"
	"github.com/weirstream/weir/internal/kafkatest"
)

// options are those of the shortest demo, with this binary as its workers.
func options(out io.Writer) demo.Options {
	opts := demo.Defaults()
	opts.Seconds, opts.Rate, opts.Seed = 8, 1000, 11
	opts.Command, opts.Out = []string{os.Args[0]}, out
	return opts
}

// demonstrated holds that a demo ran to its end and showed what it should.
func demonstrated(t *testing.T, opts demo.Options) {
	t.Helper()
	var out bytes.Buffer
	opts.Out = &out
	report, err := demo.Run(t.Context(), opts)
	t.Log(out.String())
	require.NoError(t, err)
	require.NoError(t, report.Verdict())
	require.Positive(t, report.Committed)
	for _, part := range []string{"seed 11:", "for good: the others take over", "plain loop", "duplicates", "as far as workers told"} {
		require.Contains(t, out.String(), part)
	}
}

func TestTheDemoOnTheEmbeddedCluster(t *testing.T) {
	demonstrated(t, options(nil))
}

func TestTheDemoOnARealBrokerLeavesNothing(t *testing.T) {
	c := kafkatest.Start(t)
	opts := options(nil)
	opts.Brokers = c.Brokers()
	admin := c.Admin(t)
	demonstrated(t, opts)

	topics, err := admin.ListTopics(t.Context())
	require.NoError(t, err)
	groups, err := admin.ListGroups(t.Context())
	require.NoError(t, err)
	require.Empty(t, ofDemos(topics.Names()))
	require.Empty(t, ofDemos(groups.Groups()))
}

// ofDemos are the names that a demo makes.
func ofDemos(names []string) []string {
	return slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, "weir-demo-") })
}

func TestOptionsOutOfRangeAreNamed(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*demo.Options){
		"seconds 7: must be at least 8, so that 5 kills fit":  func(o *demo.Options) { o.Seconds = 7 },
		"rate 99: must be 100 to 50000 records per second":    func(o *demo.Options) { o.Rate = 99 },
		"rate 50001: must be 100 to 50000 records per second": func(o *demo.Options) { o.Rate = 50_001 },
		"workers 1: must be at least 2, so that one can take over": func(o *demo.Options) {
			o.Workers = 1
		},
	} {
		opts := options(io.Discard)
		change(&opts)
		_, err := demo.Run(t.Context(), opts)
		require.EqualError(t, err, want)
	}
}
