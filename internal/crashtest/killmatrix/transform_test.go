package killmatrix_test

import (
	"hash/fnv"
	"strings"

	"github.com/weirstream/weir/internal/crashtest/verdict"
)

// poison starts the value of an input whose output the broker refuses.
const poison = "poison"

// outputs is the application as a pure function: a quarter of the records has
// no output, a quarter has three on two topics, the rest one.
func outputs(topics []string, key, value []byte) []verdict.Out {
	if strings.HasPrefix(string(value), poison) {
		return []verdict.Out{{Topic: topics[0], Key: key, Value: []byte("stands in for " + string(value))}}
	}
	h := fnv.New32a()
	_, _ = h.Write(value) // never fails
	out := func(topic, suffix string) verdict.Out {
		return verdict.Out{Topic: topic, Key: key, Value: append(append([]byte(nil), value...), suffix...)}
	}
	switch h.Sum32() % 8 {
	case 0, 1:
		return nil
	case 2, 3:
		return []verdict.Out{out(topics[0], "/1"), out(topics[1], "/2"), out(topics[0], "/3")}
	default:
		return []verdict.Out{out(topics[0], "")}
	}
}
