package guard

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func intentOf(t testing.TB, e *Effect[order], o order) []byte {
	t.Helper()
	from, ordinal := someOrigin(), int32(2)
	if e.event.byOrigin {
		ordinal = 0
	}
	_, intent, err := e.AppendIntent(nil, o, from.Topic, from.TopicID, from.Partition, from.Offset, ordinal)
	require.NoError(t, err)
	return intent
}

func TestAnIntentCarriesItsIdentity(t *testing.T) {
	t.Parallel()
	e := AtMostOnce("mail", charges(), perform)
	in, err := e.Open(intentOf(t, e, anOrder()))
	require.NoError(t, err)
	want, err := charges().Of(anOrder(), someOrigin())
	require.NoError(t, err)
	sum, err := want.Key.Sum("mail")
	require.NoError(t, err)
	o, err := orderCodec{}.Decode(in.Payload)
	require.NoError(t, err)
	require.True(t, anOrder().At.Equal(o.At))
	require.True(t, want.IssuedAt.Equal(in.Identity.IssuedAt))
	in.Payload, in.Identity.IssuedAt, want.IssuedAt = nil, time.Time{}, time.Time{}
	require.Equal(t, Intent{Effect: "mail", Sum: sum, Identity: want, Origin: someOrigin(), Ordinal: 2}, in)
	require.Equal(t, "\x04shop\x03o-1", in.By())
}

// TestAnIntentIdentifiedByOriginKeepsIt: the delivery reads the intent at another
// place, and the identity is that of the record it was made for.
func TestAnIntentIdentifiedByOriginKeepsIt(t *testing.T) {
	t.Parallel()
	e := Natural("log", IdentifyByOrigin(shop(), orderCodec{}, "log", amount), perform)
	in, err := e.Open(intentOf(t, e, anOrder()))
	require.NoError(t, err)
	require.Equal(t, keyOfRecord("shop", "log", someOrigin()), in.Identity.Key)
	require.Equal(t, "\x04shop\x0borders[1]@5", in.By())
}

// TestARecordIdentifiesOneIntentOnly: the second one would be taken for a repeat
// of the first, and be lost.
func TestARecordIdentifiesOneIntentOnly(t *testing.T) {
	t.Parallel()
	e := Natural("log", IdentifyByOrigin(shop(), orderCodec{}, "log", amount), perform)
	_, intent, err := e.AppendIntent(nil, anOrder(), "orders", [16]byte{}, 1, 5, 1)
	require.ErrorIs(t, err, ErrIdentity)
	require.ErrorContains(t, err, "effect log is emitted twice for one record")
	require.Empty(t, intent)
}

func TestAPayloadWithoutIdentityMakesNoIntent(t *testing.T) {
	t.Parallel()
	by, intent, err := AtMostOnce("mail", charges(), perform).AppendIntent(nil, order{}, "orders", [16]byte{}, 1, 5, 0)
	require.ErrorIs(t, err, ErrIdentity)
	require.Empty(t, by)
	require.Empty(t, intent)
}

// TestAnIntentWhoseIdentityHasChangedIsNotOpened: a program that derives other
// keys than the one that made the intent would double the effect.
func TestAnIntentWhoseIdentityHasChangedIsNotOpened(t *testing.T) {
	t.Parallel()
	intent := intentOf(t, AtMostOnce("mail", charges(), perform), anOrder())
	renamed := func(o order) Op { return OpOf(o.ID, "debit", Seq(o.Seq)) }
	_, err := AtMostOnce("mail", Identify(shop(), orderCodec{}, renamed, amount), perform).Open(intent)
	require.EqualError(t, err, "guard: source shop: identity is not stable: an intent was made as shop/o-1/charge/seq 1, and its payload now gives shop/o-1/debit/seq 1")
	require.ErrorIs(t, err, ErrUnstable)
	more := func(o order) []any { return []any{o.Cents, o.ID} }
	_, err = AtMostOnce("mail", Identify(shop(), orderCodec{}, opOf, more), perform).Open(intent)
	require.EqualError(t, err, "guard: source shop: identity is not stable: the significant fields of shop/o-1/charge/seq 1 are not those of its intent")
}

func TestAnOutcomeTravels(t *testing.T) {
	t.Parallel()
	e := AtMostOnce("mail", charges(), perform)
	in, err := e.Open(intentOf(t, e, anOrder()))
	require.NoError(t, err)
	want := Outcome{
		Sum: in.Sum, Key: in.Identity.Key, Entity: "o-1", State: Rejected, Why: WhyConflict,
		Result: []byte("no such account"), Payload: in.Payload,
	}
	record := AppendOutcome(nil, want)
	require.True(t, IsOutcome(record))
	got, err := ParseOutcome(record)
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Equal(t, in.By(), got.By())
	p, key, state, why, result, err := e.DecodeOutcome(record)
	require.NoError(t, err)
	require.Equal(t, anOrder().ID, p.ID)
	require.Equal(t, []string{"shop/o-1/charge/seq 1", "rejected", "key_used_differently", "no such account"}, []string{key, state, why, string(result)})
}

func FuzzIntentsThatAreCutShortAreRefused(f *testing.F) {
	f.Add(intentOf(f, AtMostOnce("mail", charges(), perform), anOrder()))
	f.Add([]byte{})
	f.Add([]byte{schemeIntent, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, b []byte) {
		in, err := parseIntent(b)
		if err != nil {
			require.ErrorIs(t, err, ErrIntent)
			return
		}
		again, err := parseIntent(appendIntent(nil, in))
		require.NoError(t, err)
		require.Equal(t, in, again)
	})
}

func FuzzOutcomesThatAreCutShortAreRefused(f *testing.F) {
	f.Add(AppendOutcome(nil, Outcome{Key: Key{"k"}, Entity: "e", State: Done, Result: []byte("r"), Payload: []byte("p")}))
	f.Add([]byte{schemeOutcome})
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := ParseOutcome(b)
		if err != nil {
			require.ErrorIs(t, err, ErrIntent)
			return
		}
		again, err := ParseOutcome(AppendOutcome(nil, o))
		require.NoError(t, err)
		require.Equal(t, o, again)
	})
}
