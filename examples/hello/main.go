// Hello splits lines into words, exactly once, from topic lines to topic words.
package main

import (
	"strings"

	"github.com/weirstream/weir/processor"
	"github.com/weirstream/weir/topology"
)

func main() {
	processor.Main("wordsplit", func(b *topology.Builder) {
		lines := topology.Source(b, "lines", topology.String, topology.String)
		words := topology.FlatMapValues(lines, "split",
			func(line string) ([]string, error) { return strings.Fields(line), nil })
		words.To("words", topology.String, topology.String)
	})
}
