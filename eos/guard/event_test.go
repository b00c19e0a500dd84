package guard

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type order struct {
	ID    string
	Seq   int
	Cents int64
	At    time.Time
}

type orderCodec struct{}

func (orderCodec) Append(dst []byte, o order) ([]byte, error) {
	b, err := json.Marshal(o)
	return append(dst, b...), err
}

func (orderCodec) Decode(data []byte) (o order, err error) {
	err = json.Unmarshal(data, &o)
	return o, err
}

func shop() Source[order] {
	return Source[order]{Name: "shop", IssuedBy: "shop-api", Lives: time.Hour, IssuedAt: func(o order) time.Time { return o.At }}
}

func opOf(o order) Op         { return OpOf(o.ID, "charge", Seq(o.Seq)) }
func amount(o order) []any    { return []any{o.Cents} }
func anOrder() order          { return order{ID: "o-1", Seq: 1, Cents: 100, At: time.Unix(1000, 0)} }
func charges() Event[order]   { return Identify(shop(), orderCodec{}, opOf, amount) }
func someOrigin() Origin      { return Origin{Topic: "orders", Partition: 1, Offset: 5} }
func drawn(order) Op          { return OpOf("o-1", "charge", Seq(rand.Uint64())) }
func drawnAmount(order) []any { return []any{rand.Uint64()} }

func TestIdentityOfAnEvent(t *testing.T) {
	t.Parallel()
	require.NoError(t, charges().Check())
	id, err := charges().Of(anOrder(), someOrigin())
	require.NoError(t, err)
	require.Equal(t, "shop/o-1/charge/seq 1", id.Key.String())
	require.Equal(t, "o-1", id.Entity)
	require.Equal(t, time.Unix(1000, 0), id.IssuedAt)
	again, err := charges().Of(anOrder(), Origin{Topic: "elsewhere"})
	require.NoError(t, err)
	require.Equal(t, id, again, "where it was read does not matter")

	byOrigin := IdentifyByOrigin(shop(), orderCodec{}, "log", amount)
	require.NoError(t, byOrigin.Check())
	require.True(t, byOrigin.ByOrigin())
	id, err = byOrigin.Of(anOrder(), someOrigin())
	require.NoError(t, err)
	require.Equal(t, "shop/log/origin AAAAAAAAAAAAAAAAAAAAAA[1]@5", id.Key.String())
	require.Equal(t, "orders[1]@5", id.Entity)
}

// TestBoundary8AnUnstableIdentityIsRefused: row 8 of the boundary's table, the
// part of it that two looks at one payload catch.
func TestBoundary8AnUnstableIdentityIsRefused(t *testing.T) {
	t.Parallel()
	ticks := int64(0)
	ticking := shop()
	ticking.IssuedAt = func(order) time.Time { ticks++; return time.Unix(ticks, 0) }
	for name, e := range map[string]Event[order]{
		"key": Identify(shop(), orderCodec{}, drawn, amount), "fields": Identify(shop(), orderCodec{}, opOf, drawnAmount),
		"time": Identify(ticking, orderCodec{}, opOf, amount),
	} {
		_, err := e.Of(anOrder(), someOrigin())
		require.ErrorIs(t, err, ErrUnstable, name)
	}
}

func TestPayloadsWithoutIdentity(t *testing.T) {
	t.Parallel()
	late := anOrder()
	late.At = time.Time{}
	for want, tc := range map[string]struct {
		e Event[order]
		o order
	}{
		"guard: source shop: no valid identity: its entity is empty": {charges(), order{Seq: 1, At: time.Unix(1, 0)}},
		"guard: source shop: no valid identity: panic: broken": {
			Identify(shop(), orderCodec{}, func(order) Op { panic("broken") }, amount), anOrder(),
		},
		"guard: source shop: no valid identity: IssuedAt of shop/o-1/charge/seq 1 is the zero time": {charges(), late},
		"guard: source shop: no valid identity: its significant field 1 is float64: give the amount in its smallest unit as an integer, or as a string": {
			Identify(shop(), orderCodec{}, opOf, func(order) []any { return []any{1.5} }), anOrder(),
		},
	} {
		_, err := tc.e.Of(tc.o, someOrigin())
		require.EqualError(t, err, want)
		require.ErrorIs(t, err, ErrIdentity)
	}
}

// TestDeclarationsAreCheckedAtOnce: every fault of a declaration is named before
// the first record, floats among them (row 11 of the boundary's table).
func TestDeclarationsAreCheckedAtOnce(t *testing.T) {
	t.Parallel()
	require.EqualError(t, Event[order]{}.Check(), `source "": its name is empty
source "": it does not say who issues the ids (IssuedBy)
source "": it does not say how long the sender repeats (Lives)
source "": its codec is nil
source "": it has no function that names the operation
source "": it has no function that gives the significant fields`)
	require.EqualError(t, Identify(shop(), orderCodec{}, opOf, func(o order) []any { return []any{float64(o.Cents)} }).Check(),
		"source shop: its significant field 1 is float64: give the amount in its smallest unit as an integer, or as a string")
	require.EqualError(t, IdentifyByOrigin(shop(), orderCodec{}, "", amount).Check(), "source shop: its action is empty")
	require.NoError(t, Identify(shop(), orderCodec{}, opOf, func(o order) []any {
		if o.ID == "" {
			panic("a zero order")
		}
		return amount(o)
	}).Check(), "judged at the first record")
}
