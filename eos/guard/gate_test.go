package guard

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func perform(context.Context, Call, order) Reply { return Reply{Verdict: Performed} }
func lookUp(context.Context, Call, order) Answer { return Answer{Found: There} }

func bank() Contract { return Contract{Remote: "bank", Window: 24 * time.Hour} }
func accepted() Waiver {
	return Waiver{Owner: "ops", Reason: "the chat tolerates repeats", Until: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)}
}

// book is a ledger that nobody asks.
type book struct{ Ledger }

const settling = 20 * time.Second

// TestTheGuaranteeTable is what a user reads before anything runs.
func TestTheGuaranteeTable(t *testing.T) {
	t.Parallel()
	changing := shop()
	changing.RepeatsMayChange = true
	g, err := New(book{},
		Natural("tag", charges(), perform),
		Conditional("stock", charges(), perform, InOrder(SkipSuperseded)),
		Keyed("charge", charges(), bank(), perform, lookUp, settling),
		Reconciled("transfer", charges(), perform, lookUp, settling, Timeout(5*time.Second), Lease(20*time.Second), Attempts(3)),
		AtMostOnce("mail", charges(), perform),
		AtLeastOnce("chat", Identify(changing, orderCodec{}, opOf, amount), accepted(), perform),
		Natural("log", IdentifyByOrigin(shop(), orderCodec{}, "log", amount), perform),
	)
	require.NoError(t, err)
	now := time.Date(2027, 6, 1, 0, 0, 0, 0, time.UTC)
	require.Equal(t, []string{"chat"}, g.Expired(now))
	require.Empty(t, g.Expired(now.AddDate(-1, 0, 0)))
	require.True(t, g.Knows("charge"))
	require.False(t, g.Knows("refund"))
	require.False(t, (*Gate)(nil).Knows("charge"))
	want := `
effect    class           promise                                            in doubt                                      identity                                                           delivery                                       rests on
tag       natural         exactly once in state                              repeated                                      shop, ids by shop-api, repeated for 1h0m0s                         8 attempts of 10s, lease 30s, block            its author: doing it again changes nothing
stock     conditional     once, newest wins                                  repeated: the condition tells                 shop, ids by shop-api, repeated for 1h0m0s                         8 attempts of 10s, lease 30s, skip superseded  the receiver's condition
charge    keyed remote    exactly once within the remote's window            repeated with the same key, later asked for  shop, ids by shop-api, repeated for 1h0m0s                         8 attempts of 10s, lease 30s, block            bank knows a key for 24h0m0s; absent settles in 20s
transfer  reconcile only  once, if the look-up is truthful                   asked for before it is repeated               shop, ids by shop-api, repeated for 1h0m0s                         3 attempts of 5s, lease 20s, block             absent settles in 20s
mail      at most once    may be lost, never doubled                         parked for a person                           shop, ids by shop-api, repeated for 1h0m0s                         8 attempts of 10s, lease 30s, block            the attempt is durable before the call
chat      at least once   may be doubled, accepted by its waiver             repeated                                      shop, ids by shop-api, repeated for 1h0m0s, repeats may change  8 attempts of 10s, lease 30s, block            accepted by ops until 2027-01-01: the chat tolerates repeats (EXPIRED)
log       natural         exactly once in state; redelivery by Kafka only  repeated                                      shop, ids by shop-api, repeated for 1h0m0s                         8 attempts of 10s, lease 30s, block            its author: doing it again changes nothing
`
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	require.Equal(t, squeeze(want), squeeze(g.Explain(now)))
}

// TestWhatDoesNotStart: every fault at once, one line each.
func TestWhatDoesNotStart(t *testing.T) {
	t.Parallel()
	brief := bank()
	brief.Window = 3 * time.Minute
	other := shop()
	other.Lives = time.Minute
	for want, effects := range map[string][]Declared{
		"effect 1 is nil": {nil},
		"effect mail: two effects have this name, and would share their marks": {
			AtMostOnce("mail", charges(), perform), AtMostOnce("mail", charges(), perform),
		},
		"effect mail: source shop is declared differently at effect tag: one sender has one contract": {
			Natural("tag", charges(), perform), AtMostOnce("mail", Identify(other, orderCodec{}, opOf, amount), perform),
		},
		`effect "": its name is empty`: {AtMostOnce("", charges(), perform)},
		`effect a/b: its name has the character '/': only a-z, A-Z, 0-9, '.', '_' and '-' are allowed`: {AtMostOnce("a/b", charges(), perform)},
		"effect mail: it has no function that performs it":                                             {AtMostOnce[order]("mail", charges(), nil)},
		"effect mail: source shop: it has no function that names the operation":                        {AtMostOnce("mail", Identify(shop(), orderCodec{}, nil, amount), perform)},
		"effect mail: Lease is 11s: want more than Timeout (10s) and 1s":                               {AtMostOnce("mail", charges(), perform, Lease(11*time.Second))},
		"effect mail: Attempts is 0: want at least 1":                                                  {AtMostOnce("mail", charges(), perform, Attempts(0))},
		"effect mail: MaxInFlight is 0: want at least 1":                                               {AtMostOnce("mail", charges(), perform, MaxInFlight(0))},
		"effect mail: Backoff is 2s to 1s: want more than 0, and no less at the end":                   {AtMostOnce("mail", charges(), perform, Backoff(2*time.Second, time.Second))},
		"effect mail: InOrder is 9: want Block, SkipSuperseded or Unordered":                           {AtMostOnce("mail", charges(), perform, InOrder(9))},
		"effect charge: its contract does not name the remote":                                         {Keyed("charge", charges(), Contract{Window: 24 * time.Hour}, perform, lookUp, settling)},
		"effect charge: its contract knows a key for 0s, less than its margin of 1m0s: say how long the remote keeps keys": {
			Keyed("charge", charges(), Contract{Remote: "bank"}, perform, lookUp, settling),
		},
		"effect charge: its 8 attempts may take 5m3.5s, and the remote knows a key for 3m0s: lower Attempts, Lease or Backoff": {
			Keyed("charge", charges(), brief, perform, lookUp, settling),
		},
		"effect charge: it has no look-up: how is an unknown outcome to become known?": {Keyed("charge", charges(), bank(), perform, nil, settling)},
		"effect transfer: it settles in 10s: want more than Timeout (10s), so that a request on its way is not taken for absent": {
			Reconciled("transfer", charges(), perform, lookUp, 10*time.Second),
		},
		"effect chat: it may be doubled: its waiver has to say who accepts that, why, and until when it holds": {
			AtLeastOnce("chat", charges(), Waiver{Owner: "ops"}, perform),
		},
	} {
		g, err := New(book{}, effects...)
		require.EqualError(t, err, "guard: effects are not declared safely: "+want)
		require.ErrorIs(t, err, ErrDeclaration)
		require.Nil(t, g)
	}
	_, err := New(nil, AtMostOnce("mail", charges(), perform))
	require.EqualError(t, err, "guard: effects are not declared safely: there is no ledger: where is it to be known that an effect has happened?")
	_, err = New(book{}, AtMostOnce[order]("mail", Event[order]{}, nil))
	require.Len(t, strings.Split(err.Error(), "\n"), 7, "%v", err)
}
