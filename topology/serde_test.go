package topology_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/topology"
)

func encoded[T any](t testing.TB, s topology.Serde[T], v T) []byte {
	t.Helper()
	data, err := s.Append([]byte{}, v)
	require.NoError(t, err)
	return data
}

// The bytes are those of Kafka's own serializers.
func TestIntegersAreBigEndian(t *testing.T) {
	t.Parallel()
	require.Equal(t, []byte{0x01, 0x02}, encoded(t, topology.Int16, 0x0102))
	require.Equal(t, []byte{0xff, 0xff, 0xff, 0xfe}, encoded(t, topology.Int32, -2))
	require.Equal(t, []byte{0x80, 0, 0, 0, 0, 0, 0, 0}, encoded(t, topology.Int64, math.MinInt64))
	_, err := topology.Int16.Decode([]byte{1})
	require.EqualError(t, err, "int16: 1 bytes, want 2")
	_, err = topology.Int32.Decode([]byte{})
	require.EqualError(t, err, "int32: 0 bytes, want 4")
	_, err = topology.Int64.Decode(make([]byte, 9))
	require.EqualError(t, err, "int64: 9 bytes, want 8")
}

func TestNullPerSerde(t *testing.T) {
	t.Parallel()
	_, err := topology.String.Decode(nil)
	require.ErrorIs(t, err, topology.ErrNull)
	_, err = topology.Int16.Decode(nil)
	require.ErrorIs(t, err, topology.ErrNull)
	_, err = topology.Int32.Decode(nil)
	require.ErrorIs(t, err, topology.ErrNull)
	_, err = topology.Int64.Decode(nil)
	require.ErrorIs(t, err, topology.ErrNull)
	_, err = topology.JSON[*int]().Decode(nil)
	require.ErrorIs(t, err, topology.ErrNull)

	raw, err := topology.Bytes.Decode(nil)
	require.NoError(t, err)
	require.Nil(t, raw)
	require.Nil(t, encoded(t, topology.Bytes, nil))
	require.Equal(t, []byte{}, encoded(t, topology.Bytes, []byte{}))
	require.Equal(t, []byte{}, encoded(t, topology.String, ""))

	text := topology.Nullable(topology.String)
	p, err := text.Decode(nil)
	require.NoError(t, err)
	require.Nil(t, p)
	require.Nil(t, encoded(t, text, nil))
	p, err = text.Decode([]byte{})
	require.NoError(t, err)
	require.Empty(t, *p)
	require.Equal(t, []byte{}, encoded(t, text, p))
	_, err = topology.Nullable(topology.Int64).Decode([]byte{1})
	require.EqualError(t, err, "int64: 1 bytes, want 8")
	require.Nil(t, topology.Nullable[string](nil))
}

func TestJSON(t *testing.T) {
	t.Parallel()
	type order struct {
		ID    string `json:"id"`
		Cents int64  `json:"cents"`
	}
	s := topology.JSON[order]()
	want := order{"o-1", 1<<53 + 1}
	got, err := s.Decode(encoded(t, s, want))
	require.NoError(t, err)
	require.Equal(t, want, got)
	_, err = s.Decode([]byte(`{"id":"a"} {}`))
	require.EqualError(t, err, "invalid character '{' after top-level value")
	_, err = s.Decode([]byte{})
	require.EqualError(t, err, "unexpected end of JSON input")
	require.Equal(t, "null", string(encoded(t, topology.JSON[*order](), nil)), "the text, not null bytes")
}

func FuzzSerdes(f *testing.F) {
	f.Add([]byte(nil), int64(0))
	f.Add([]byte{}, int64(-1))
	f.Add([]byte("\xff\x00text"), int64(math.MaxInt64))
	f.Add([]byte(`{"a":[1,null,"<&>"]}`), int64(math.MinInt64))
	f.Fuzz(func(t *testing.T, data []byte, n int64) {
		roundTrips(t, topology.Bytes, data)
		roundTrips(t, topology.String, data)
		roundTrips(t, topology.Int16, data)
		roundTrips(t, topology.Int32, data)
		roundTrips(t, topology.Int64, data)
		roundTrips(t, topology.Nullable(topology.String), data)
		v, err := topology.Int64.Decode(encoded(t, topology.Int64, n))
		require.NoError(t, err)
		require.Equal(t, n, v)

		js := topology.JSON[json.RawMessage]()
		if raw, err := js.Decode(data); err == nil {
			again, err := js.Decode(encoded(t, js, raw))
			require.NoError(t, err)
			require.JSONEq(t, string(raw), string(again))
		}
	})
}

// roundTrips requires that what s reads at all, it writes as it was, behind
// whatever is already in the buffer.
func roundTrips[T any](t *testing.T, s topology.Serde[T], data []byte) {
	t.Helper()
	before := bytes.Clone(data)
	v, err := s.Decode(data)
	if err != nil {
		return
	}
	require.Equal(t, before, data, "Decode changed its input")
	again := encoded(t, s, v)
	require.True(t, bytes.Equal(data, again), "%q became %q", data, again)
	require.Equal(t, data == nil, again == nil, "null and empty were mixed up")
	if data == nil {
		return
	}
	behind, err := s.Append([]byte("head"), v)
	require.NoError(t, err)
	require.Equal(t, "head"+string(data), string(behind))
}
