package topology_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/topology"
)

var errBoom = errors.New("boom")

// badSerde panics where told to.
type badSerde struct{ decode, encode bool }

func (s badSerde) Append(dst []byte, v string) ([]byte, error) {
	if s.encode {
		panic(errBoom)
	}
	return append(dst, v...), nil
}

func (s badSerde) Decode(data []byte) (string, error) {
	if s.decode {
		panic(errBoom)
	}
	return string(data), nil
}

func TestPanicsBecomeErrors(t *testing.T) {
	t.Parallel()
	str := topology.String
	for name, tc := range map[string]struct {
		in, out  topology.Serde[string]
		fn       func(string) (string, error)
		phase    topology.Phase
		operator string
	}{
		"decode":  {badSerde{decode: true}, str, upper, topology.PhaseDecode, "in"},
		"process": {str, str, func(string) (string, error) { panic(errBoom) }, topology.PhaseProcess, "fn"},
		"produce": {str, badSerde{encode: true}, upper, topology.PhaseProduce, "out"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := topology.New()
			s := topology.Source(b, "in", str, tc.in)
			topology.MapValues(s, "fn", tc.fn).To("out", str, tc.out)
			r := runner(t, b)
			err := r.Process(record("in", "v"), func(*topology.Output) {})
			require.EqualError(t, err, name+` in "`+tc.operator+`": panic: boom`)
			var failed *topology.RecordError
			require.ErrorAs(t, err, &failed)
			require.Equal(t, tc.phase, failed.Phase)
			require.Equal(t, tc.operator, failed.Operator)
			require.ErrorIs(t, err, errBoom)
			var panicked *topology.PanicError
			require.ErrorAs(t, err, &panicked)
			require.Contains(t, string(panicked.Stack), "panic_test.go", "the stack shows where")
		})
	}
}

// What is wrong in emit is the caller's, and the Runner still works after it.
func TestPanicInEmitGoesThrough(t *testing.T) {
	t.Parallel()
	b := topology.New()
	lines(b)
	r := runner(t, b)
	require.PanicsWithError(t, "boom", func() {
		_ = r.Process(record("lines", "v"), func(*topology.Output) { panic(errBoom) })
	})
	var got []string
	require.NoError(t, r.Process(record("lines", "v"), func(o *topology.Output) { got = append(got, string(o.Value)) }))
	require.Equal(t, []string{"v"}, got)
}

func TestUnknownTopic(t *testing.T) {
	t.Parallel()
	b := topology.New()
	lines(b)
	err := runner(t, b).Process(record("other", "v"), func(*topology.Output) {})
	require.EqualError(t, err, `topology: topic "other": topic is not a source of the topology`)
	require.ErrorIs(t, err, topology.ErrUnknownTopic)
}

func runner(t testing.TB, b *topology.Builder) *topology.Runner {
	t.Helper()
	top, err := b.Build()
	require.NoError(t, err)
	plan, err := top.Resolve("app")
	require.NoError(t, err)
	return plan.Runner()
}

func record(topic, value string) *topology.Record {
	return &topology.Record{Origin: topology.Origin{Topic: topic}, Key: []byte("k"), Value: []byte(value)}
}
