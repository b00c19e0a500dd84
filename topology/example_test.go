package topology_test

import (
	"fmt"
	"strings"

	"github.com/weirstream/weir/topology"
)

func Example() {
	b := topology.New()
	lines := topology.Source(b, "lines", topology.String, topology.String)
	words := topology.FlatMapValues(lines, "split",
		func(line string) ([]string, error) { return strings.Fields(line), nil })
	words.To("words", topology.String, topology.String)
	top, err := b.Build()
	if err != nil {
		fmt.Println(err)
		return
	}

	plan, err := top.Resolve("wordsplit")
	if err != nil {
		fmt.Println(err)
		return
	}
	rec := &topology.Record{
		Origin: topology.Origin{Topic: "lines", Partition: 0, Offset: 42},
		Value:  []byte("to be or not"),
	}
	err = plan.Runner().Process(rec, func(out *topology.Output) {
		fmt.Printf("%s: %s\n", out.Topic, out.Value)
	})
	fmt.Println(err)
	// Output:
	// words: to
	// words: be
	// words: or
	// words: not
	// <nil>
}
