package topology_test

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/topology"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// everyKind is a topology with each kind of operator.
func everyKind(t testing.TB) *topology.Topology {
	t.Helper()
	str := topology.String
	b := topology.New()
	orders := topology.Source(b, "orders", str, str)
	returns := topology.Source(b, "returns", str, str)
	all := orders.Merge("all", returns)
	checked := topology.MapMessage(all, "check", func(m topology.Message[string, string]) (topology.Message[string, string], error) { return m, nil })
	route := checked.Filter("not-empty", keep).Branch("route")
	route.Case("big", keep).Peek("log-big", look).To("big-orders", str, str)
	rest := route.Default("small")
	keyed := topology.SelectKey(rest, "by-account", func(k, _ string) (string, error) { return k, nil })
	account := keyed.Repartition("account", str, str, topology.WithPartitions(6))
	words := topology.FlatMapValues(account, "words", func(v string) ([]string, error) { return []string{v}, nil })
	pairs := topology.FlatMap(words, "pairs", func(string, string) ([]topology.KeyValue[string, string], error) { return nil, nil })
	tagged := topology.FlatMapMessage(pairs, "tag", func(topology.Message[string, string]) ([]topology.Message[string, string], error) { return nil, nil })
	sized := topology.Map(tagged, "swap", func(k, v string) (string, string, error) { return v, k, nil })
	topology.MapValues(sized, "upper", upper).ToFunc("by-region", []string{"eu", "us"},
		func(topology.Message[string, string]) string { return "eu" }, str, str)
	topology.Source(b, "pings", str, str, topology.Name("heartbeats")).To("pongs", str, str, topology.Name("answers"))
	top, err := b.Build()
	require.NoError(t, err)
	return top
}

func TestDescription(t *testing.T) {
	t.Parallel()
	top := everyKind(t)
	plan, err := top.Resolve("shop")
	require.NoError(t, err)
	effects := everyEffect(t)
	effectPlan, err := effects.Resolve("shop")
	require.NoError(t, err)
	for name, got := range map[string]string{
		"topology.txt":     top.Describe(),
		"topology.mermaid": top.Mermaid(),
		"plan.txt":         plan.Describe(),
		"plan.mermaid":     plan.Mermaid(),
		"effects.txt":      effects.Describe(),
		"effects.mermaid":  effectPlan.Mermaid(),
	} {
		path := filepath.Join("testdata", name)
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(want), got, "run the test with -update if the change is meant")
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	plan, err := everyKind(t).Resolve("shop")
	require.NoError(t, err)
	require.Equal(t, []string{"orders", "returns", "shop-account-repartition", "pings"}, plan.Sources())
	require.Equal(t, []string{"big-orders", "shop-account-repartition", "eu", "us", "pongs"}, plan.Sinks())
	require.Equal(t, []topology.Repartition{
		{Name: "account", Topic: "shop-account-repartition", Partitions: 6, From: 0, To: 1},
	}, plan.Repartitions())
	require.Equal(t, []topology.Subtopology{
		{ID: 0, Sources: []string{"orders", "returns"}, Sinks: []string{"big-orders", "shop-account-repartition"}},
		{ID: 1, Sources: []string{"shop-account-repartition"}, Sinks: []string{"eu", "us"}},
		{ID: 2, Sources: []string{"pings"}, Sinks: []string{"pongs"}},
	}, plan.Subtopologies())
}

func TestResolveFaults(t *testing.T) {
	t.Parallel()
	str := topology.String
	b := topology.New()
	s := topology.Source(b, "app-r-repartition", str, str)
	pass(s.Repartition("r", str, str), "p")
	long := ""
	for i := range 240 {
		long += strconv.Itoa(i % 10)
	}
	pass(s.Repartition(long, str, str), "q")
	top, err := b.Build()
	require.NoError(t, err)
	for id, want := range map[string]string{
		"":     `topology: application id "" is empty`,
		"..":   `topology: application id ".." is reserved`,
		"a/b":  `topology: application id "a/b" has the character '/': only a-z, A-Z, 0-9, '.', '_' and '-' are allowed`,
		"app1": `topology: repartition "` + long + `": its topic "app1-` + long + `-repartition" has 257 characters: at most 249 are allowed`,
		"app": `topology: repartition "r": its topic "app-r-repartition" is also that of source "app-r-repartition"` + "\n" +
			`topology: repartition "` + long + `": its topic "app-` + long + `-repartition" has 256 characters: at most 249 are allowed`,
	} {
		plan, err := top.Resolve(id)
		require.Nil(t, plan)
		require.EqualError(t, err, want)
		require.ErrorIs(t, err, topology.ErrInvalid)
	}
}
