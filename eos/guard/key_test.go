package guard

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func ops() []Op {
	return []Op{
		OpOf("7", "create", Seq(1)), OpOf("7", "create", Seq(2)), OpOf("7", "refund", Seq(1)),
		OpOf("7", "create", Ref("1")), OpOf("7", "create", Once()), OpOf("71", "create", Seq(1)),
		OpOf("7", "createx", Seq(1)), OpOf("7c", "reate", Seq(1)), OpOf("7", "create", Seq(12)),
		OpOf("7\u00a0", "create", Seq(1)), OpOf("é", "create", Seq(1)), OpOf("e\u0301", "create", Seq(1)),
	}
}

// TestNoTwoOperationsShareAKey (R7): create and refund of one order, two changes
// of it, two sources with equal ids, and ids that only look alike when joined.
func TestNoTwoOperationsShareAKey(t *testing.T) {
	t.Parallel()
	seen := map[Key]string{}
	sums := map[Sum]string{}
	for _, source := range []string{"shop", "shop7", "sho"} {
		for _, op := range ops() {
			k := keyOf(source, op)
			require.NotContains(t, seen, k)
			seen[k] = k.String()
			for _, effect := range []string{"charge", "chargex", "book"} {
				sum, err := k.Sum(effect)
				require.NoError(t, err)
				require.NotContains(t, sums, sum)
				sums[sum] = k.String()
			}
		}
	}
}

func FuzzKeysOfAnyPartsDiffer(f *testing.F) {
	f.Add("shop", "7", "create", "1", "shop7", "", "create", "1")
	f.Add("a", "bc", "d", "e", "ab", "c", "d", "e")
	f.Add("s", "e", "a", "\x01s1", "s", "e\x01a", "", "s1")
	f.Fuzz(func(t *testing.T, s1, e1, a1, v1, s2, e2, a2, v2 string) {
		same := s1 == s2 && e1 == e2 && a1 == a2 && v1 == v2
		require.Equal(t, same, keyOf(s1, OpOf(e1, a1, Ref(v1))) == keyOf(s2, OpOf(e2, a2, Ref(v2))))
	})
}

// TestKeysNeverChange: a key is compared with those of years ago.
func TestKeysNeverChange(t *testing.T) {
	t.Parallel()
	k := keyOf("shop", OpOf("order-7", "charge", Seq(3)))
	require.Equal(t, "\x01\x04shop\x07order-7\x06charge\x02s3", string(k.Bytes()))
	require.Equal(t, "shop/order-7/charge/seq 3", k.String())
	sum, err := k.Sum("charge")
	require.NoError(t, err)
	require.Equal(t, "5edcee4e76f545a75887da724512bf918f283aa5181400524f6b03730ea10a37", sum.String())
	require.Equal(t, "5edcee4e-76f5-85a7-9887-da724512bf91", sum.UUID())
	origin := Origin{TopicID: [16]byte{15: 9}, Topic: "orders", Partition: 2, Offset: 258}
	k = keyOfRecord("shop", "log", origin)
	require.Equal(t, "\x02\x04shop\x03log"+strings.Repeat("\x00", 15)+"\x09\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x01\x02", string(k.Bytes()))
	require.Equal(t, "shop/log/origin AAAAAAAAAAAAAAAAAAAACQ[2]@258", k.String())
}

// TestAKeyIsReadBackFromItsBytes: a ledger keeps nothing else of it.
func TestAKeyIsReadBackFromItsBytes(t *testing.T) {
	t.Parallel()
	keys := []Key{keyOfRecord("shop", "log", someOrigin())}
	for _, op := range ops() {
		keys = append(keys, keyOf("shop", op))
	}
	for _, k := range keys {
		again, err := ParseKey(k.Bytes())
		require.NoError(t, err)
		require.Equal(t, k, again)
		require.Equal(t, "shop", again.Source())
		for n := range len(k.Bytes()) {
			_, err := ParseKey(k.Bytes()[:n])
			require.ErrorIs(t, err, ErrNoKey, "%s cut to %d bytes", k, n)
		}
		_, err = ParseKey(append(k.Bytes(), 0))
		require.ErrorIs(t, err, ErrNoKey)
	}
}

type vagueSeq int

func (vagueSeq) String() string { return "some" }

func TestASequenceIsItsNumberWhateverItCallsItself(t *testing.T) {
	t.Parallel()
	require.Equal(t, Seq(7), Seq(vagueSeq(7)))
	require.NotEqual(t, Seq(vagueSeq(7)), Seq(vagueSeq(8)))
}

func TestZeroKeyIsRefused(t *testing.T) {
	t.Parallel()
	_, err := Key{}.Sum("charge")
	require.ErrorIs(t, err, ErrNoKey)
	require.EqualError(t, err, "guard: the effect has no key: only an Event makes one")
	require.Equal(t, "no key", Key{}.String())
}

func TestOpSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	for want, op := range map[string]Op{
		"its entity is empty":                                         OpOf("", "charge", Once()),
		"its action is empty":                                         OpOf("7", "", Once()),
		"it has no version: say Seq, Ref or Once":                     OpOf("7", "charge", Version{}),
		"version Seq(-1) is negative":                                 OpOf("7", "charge", Seq(-1)),
		"its version Ref is empty":                                    OpOf("7", "charge", Ref("")),
		"its entity has 257 bytes, at most 256 are allowed":           OpOf(strings.Repeat("x", 257), "charge", Once()),
		`its entity "\xff" is not UTF-8`:                              OpOf("\xff", "charge", Once()),
		`its action "a\nb" has the unprintable character U+000A`:      OpOf("7", "a\nb", Once()),
		`its version Ref "\x00" has the unprintable character U+0000`: OpOf("7", "charge", Ref("\x00")),
		"its version Ref has 300 bytes, at most 256 are allowed":      OpOf("7", "charge", Ref(strings.Repeat("r", 300))),
		`its entity "\u202e7" has the unprintable character U+202E`:   OpOf("\u202e7", "charge", Once()),
	} {
		require.EqualError(t, op.fault(), want)
	}
	require.NoError(t, OpOf("Straße 7", "charge", Seq(uint64(1<<63))).fault())
}
