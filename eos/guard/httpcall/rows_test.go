package httpcall

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/eos/guard"
	"github.com/weirstream/weir/eos/guard/guardtest/remotesim"
)

// TestRow31AtOneAttempt: a connection that was used before dies after the remote
// has acted. net/http takes a request with an Idempotency-Key for repeatable and
// would send it again by itself, to a remote that may ignore keys.
func TestRow31AtOneAttempt(t *testing.T) {
	t.Parallel()
	empty := func(url string) func(order) (Request, error) {
		return func(o order) (Request, error) {
			return Request{Method: http.MethodPost, URL: url + "?id=" + o.ID}, nil
		}
	}
	for name, request := range map[string]func(url string) func(order) (Request, error){"with a body": post, "without a body": empty} {
		for _, header := range []string{"Idempotency-Key", "X-Idempotency-Key", "PayPal-Request-Id"} {
			t.Run(name+" and "+header, func(t *testing.T) {
				t.Parallel()
				r := startRemote(t)
				r.IgnoreKeys()
				api := bank()
				api.KeyHeader = header
				e := Keyed("charge", charges(), api, request(r.URL()+"/charges"), byID(r.URL()+"/charges"))
				first := attempt(t.Context(), t, e, order{ID: "o-0", Cents: 1}) // leaves a used connection
				require.Equal(t, guard.Performed, first.Verdict, first.Detail)

				r.Next(remotesim.ActThenDrop())
				reply := attempt(t.Context(), t, e, anOrder())
				require.Equal(t, guard.Unclear, reply.Verdict, reply.Detail)
				require.Equal(t, 1, r.Posts("o-1"), "one attempt is one request")
				require.Equal(t, 1, r.Effects("o-1"))
			})
		}
	}
}

// TestRow31AtTwoAttempts: the ledger repeats it, under the same key.
func TestRow31AtTwoAttempts(t *testing.T) {
	t.Parallel()
	r := startRemote(t)
	e := keyedOn(r, bank())
	require.Equal(t, guard.Performed, attempt(t.Context(), t, e, order{ID: "o-0"}).Verdict)
	r.Next(remotesim.ActThenDrop())
	h := deliver(t, e, anOrder(), nil)
	require.Equal(t, guard.Done, h.row.State)
	require.Equal(t, 2, h.row.Attempts)
	require.Equal(t, 2, r.Posts("o-1"))
	require.Equal(t, 1, r.Effects("o-1"))
	require.Len(t, r.Keys("o-1"), 1)
	require.JSONEq(t, `{"id":"o-1","effect":1}`, string(h.replies[1].Result))
	require.Regexp(t, `^POST 127\.0\.0\.1:\d+/charges: 200, replayed$`, h.replies[1].Detail)
}

func TestRow32AtOneAttempt(t *testing.T) {
	t.Parallel()
	r := startRemote(t)
	r.Next(remotesim.Busy("7"))
	h := deliver(t, keyedOn(r, bank()), anOrder(), nil)
	require.Equal(t, guard.Busy, h.replies[0].Verdict)
	require.Equal(t, guard.Done, h.row.State)
	require.Equal(t, 1, h.row.Attempts)
	require.Equal(t, 7*time.Second, h.waited)
	require.Equal(t, 1, r.Effects("o-1"))
}

func TestRow33AtOneAttempt(t *testing.T) {
	t.Parallel()
	r := startRemote(t)
	e := keyedOn(r, Draft("bank", 24*time.Hour))
	require.Equal(t, guard.Done, deliver(t, e, anOrder(), nil).row.State)
	h := deliver(t, e, order{ID: "o-1", Cents: 101}, nil)
	require.Equal(t, guard.Mismatched, h.replies[0].Verdict)
	require.Equal(t, guard.Parked, h.row.State)
	require.Equal(t, guard.WhyConflict, h.row.Why)
	require.Equal(t, 1, h.sent)
	require.Equal(t, 2, r.Posts("o-1"))
	require.Equal(t, 1, r.Effects("o-1"))
}

// TestRow34AtOneAttempt: a 500 that is saved under the key is repeated for ever.
// The budget ends that, and the look-up decides; there is never a second key.
func TestRow34AtOneAttempt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		acted bool
		state guard.State
		why   guard.Why
		found guard.Found
	}{
		{acted: true, state: guard.Done, found: guard.There},
		{acted: false, state: guard.Parked, why: guard.WhyBudget, found: guard.Absent},
	} {
		r := startRemote(t)
		r.Next(remotesim.SavedFailure(http.StatusInternalServerError, c.acted))
		e := Keyed("charge", charges(), bank(), post(r.URL()+"/charges"), byID(r.URL()+"/charges"), guard.Attempts(3))
		h := deliver(t, e, anOrder(), nil)
		require.Equal(t, c.state, h.row.State)
		require.Equal(t, c.why, h.row.Why)
		require.Equal(t, 3, h.sent)
		require.Equal(t, 3, r.Posts("o-1"))
		require.Len(t, r.Keys("o-1"), 1)
		for _, reply := range h.replies {
			require.Equal(t, guard.Unclear, reply.Verdict)
		}
		require.Equal(t, c.found, h.answers[len(h.answers)-1].Found)
	}
}

// TestRow36AtOneAttempt: the remote says that it has nothing, and acts after that.
func TestRow36AtOneAttempt(t *testing.T) {
	t.Parallel()
	r := startRemote(t)
	r.IgnoreKeys()
	gate := remotesim.NewGate()
	r.Next(remotesim.DropThenAct(gate))
	e := Reconciled("charge", charges(), API{Settle: 10 * time.Minute}, post(r.URL()+"/charges"), byID(r.URL()+"/charges"))
	h := deliver(t, e, anOrder(), func(n int, w guard.Work) {
		if n == 3 { // it was sent, and is asked for the second time
			require.Equal(t, guard.Ask, w)
			gate.Open()
			<-gate.Passed()
		}
	})
	require.Equal(t, guard.Done, h.row.State)
	require.Equal(t, []guard.Found{guard.Absent, guard.There}, []guard.Found{h.answers[0].Found, h.answers[1].Found})
	require.Equal(t, 1, r.Posts("o-1"))
	require.Equal(t, 1, r.Effects("o-1"))
}

func TestRow37AtOneAttempt(t *testing.T) {
	t.Parallel()
	r := startRemote(t)
	r.Refuse()
	e := AtMostOnce("charge", charges(), API{}, post(r.URL()+"/charges")) // the class that parks any doubt
	h := deliver(t, e, anOrder(), func(n int, _ guard.Work) {
		if n == 4 {
			require.NoError(t, r.Accept(t.Context()))
		}
	})
	require.Equal(t, guard.Done, h.row.State)
	require.Equal(t, 3, h.notSent)
	require.Equal(t, 1, h.row.Attempts)
	require.Equal(t, 1, r.Effects("o-1"))
	require.Regexp(t, `^POST 127\.0\.0\.1:\d+/charges: not sent: dial tcp 127\.0\.0\.1:\d+: connect: connection refused$`, h.replies[0].Detail)
	require.False(t, h.replies[0].Pause, "other addresses may well answer")
}

func TestRow38AtOneAttempt(t *testing.T) {
	t.Parallel()
	r := startRemote(t)
	r.Next(remotesim.Limit("7"))
	h := deliver(t, AtMostOnce("charge", charges(), API{}, post(r.URL()+"/charges")), anOrder(), nil)
	require.Equal(t, guard.Unsent, h.replies[0].Verdict)
	require.True(t, h.replies[0].Pause, "everything else of the sink waits, too")
	require.Equal(t, 7*time.Second, h.replies[0].Wait)
	require.Equal(t, 7*time.Second, h.waited)
	require.Equal(t, guard.Done, h.row.State)
	require.Equal(t, 1, r.Effects("o-1"))
}
