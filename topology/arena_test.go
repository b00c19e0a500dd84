package topology_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/topology"
)

// oddSerde returns its bytes in ways that the text of Serde does not foresee.
type oddSerde struct{ how string }

func (s oddSerde) Decode(data []byte) (string, error) { return string(data), nil }

func (s oddSerde) Append(dst []byte, v string) ([]byte, error) {
	switch s.how {
	case "cut in front":
		return append(append(dst, "xx"...), v...)[2:], nil
	case "capacity cut":
		dst = append(dst, v...)
		return dst[:len(dst):len(dst)], nil
	case "memory of its own":
		return []byte(v), nil
	}
	return append(dst, v...), nil
}

// Bytes handed to emit are the receiver's: later records never change them.
func TestOutputsAreNotOverwritten(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"as it should", "cut in front", "capacity cut", "memory of its own"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			b := topology.New()
			topology.Source(b, "in", topology.String, topology.String).To("out", oddSerde{how}, oddSerde{how})
			r := runner(t, b)
			var outputs []topology.Output
			var want []string
			for i := range 3000 {
				v := strings.Repeat(fmt.Sprint(i, ","), i%40)
				if i%500 == 0 {
					v = strings.Repeat(fmt.Sprint(i), 9000)
				}
				want = append(want, v)
				require.NoError(t, r.Process(record("in", v), func(o *topology.Output) {
					outputs = append(outputs, *o)
					require.Equal(t, len(o.Value), cap(o.Value), "an append by the receiver must not reach the next output")
				}))
			}
			for i, o := range outputs {
				require.Equal(t, "k", string(o.Key))
				require.Equal(t, want[i], string(o.Value))
			}
		})
	}
}
