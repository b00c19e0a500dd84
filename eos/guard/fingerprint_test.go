package guard

import (
	"encoding/hex"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type cents int64

func sumOf(t *testing.T, fields ...any) Fingerprint {
	t.Helper()
	f, err := fingerprintOf(fields)
	require.NoError(t, err)
	return f
}

// TestFingerprintsTellContentApart (R9), row 11 of the boundary's table among
// them: integers that are one number as JSON's doubles are two.
func TestFingerprintsTellContentApart(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	seen := map[Fingerprint]int{}
	for i, fields := range [][]any{
		{int64(9007199254740992)},
		{int64(9007199254740993)},
		{"9007199254740992"},
		{uint64(9007199254740992)},
		{int64(1), int64(2)},
		{int64(2), int64(1)},
		{int64(1)},
		{int32(1)},
		{true},
		{false},
		{""},
		{[]byte{}},
		{"ab", "c"},
		{"a", "bc"},
		{"abc"},
		{[]byte("abc")},
		{"a", "b", "c"},
		{at},
		{at.Add(time.Nanosecond)},
		{at.Add(time.Hour)},
		{time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)},
		{at.Unix()},
	} {
		f := sumOf(t, fields...)
		require.NotContains(t, seen, f, "%v", fields)
		seen[f] = i
	}
}

func TestFingerprintsOfEqualContentAreEqual(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 12, 1, 10, 0, 0, 5, time.UTC)
	require.Equal(t, sumOf(t, at), sumOf(t, at.In(time.FixedZone("east", 7200))), "one instant")
	require.Equal(t, sumOf(t, int64(7)), sumOf(t, 7), "int counts as 64 bits on every platform")
	require.Equal(t, sumOf(t, int64(7)), sumOf(t, cents(7)), "a name changes nothing")
	require.Equal(t, sumOf(t, []byte(nil)), sumOf(t, []byte{}))
	f := sumOf(t, "eur", int64(100), true)
	require.Equal(t, "4a6f6d94aaa82125c89ea3c86dc63a5de35d27a5c917c9181f61a5950362be45", hex.EncodeToString(f[:]), "compared with those of years ago")
}

func TestWhatIsNoSignificantField(t *testing.T) {
	t.Parallel()
	const others = "string, bool, integers, []byte and time.Time are allowed"
	for _, tc := range []struct {
		field any
		want  string
	}{
		{1.5, "its significant field 2 is float64: give the amount in its smallest unit as an integer, or as a string"},
		{float32(1), "its significant field 2 is float32: give the amount in its smallest unit as an integer, or as a string"},
		{nil, "its significant field 2 is nil: " + others},
		{map[string]int{}, "its significant field 2 is map[string]int: " + others},
		{struct{}{}, "its significant field 2 is struct {}: " + others},
		{new(int), "its significant field 2 is *int: " + others},
		{[]string{}, "its significant field 2 is []string: " + others},
		{complex(1, 1), "its significant field 2 is complex128: " + others},
	} {
		_, err := fingerprintOf([]any{"first", tc.field})
		require.EqualError(t, err, tc.want)
	}
	_, err := fingerprintOf(nil)
	require.EqualError(t, err, "it declares no significant field: a repeat with other content would pass for a duplicate")
}
