package httpcall

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/eos/guard"
)

// noLedger is enough to have declarations checked.
type noLedger struct{ guard.Ledger }

// TestWhatIsMissingDoesNotStart: guard.New reports it as it does for every sink.
func TestWhatIsMissingDoesNotStart(t *testing.T) {
	t.Parallel()
	request, find := post("https://bank.example/charges"), byID("https://bank.example/charges")
	noAsk, noRead := find, find
	noAsk.Ask, noRead.Read = nil, nil
	unnamed := bank()
	unnamed.Remote = ""
	const asks, acts = "it has no look-up: how is an unknown outcome to become known?", "it has no function that performs it"
	for _, c := range []struct {
		effect *guard.Effect[order]
		want   string
	}{
		{Keyed("charge", charges(), bank(), nil, find), acts},
		{Keyed("charge", charges(), bank(), request, noAsk), asks},
		{Keyed("charge", charges(), bank(), request, noRead), asks},
		{Keyed("charge", charges(), unnamed, request, find), "its contract does not name the remote"},
		{Keyed("charge", charges(), API{Remote: "bank", Settle: settle}, request, find), "its contract knows a key for 0s, less than its margin of 1m0s: say how long the remote keeps keys"},
		{Keyed("charge", charges(), Draft("bank", 2*time.Minute), request, find), "its 8 attempts may take 5m3.5s, and the remote knows a key for 2m0s: lower Attempts, Lease or Backoff"},
		{Keyed("charge", charges(), API{Remote: "bank", Window: time.Hour}, request, find), "it settles in 0s: want more than Timeout (10s), so that a request on its way is not taken for absent"},
		{Reconciled("charge", charges(), API{}, request, find), "it settles in 0s: want more than Timeout (10s), so that a request on its way is not taken for absent"},
		{Reconciled("charge", charges(), API{Settle: settle}, request, noRead), asks},
		{Reconciled("charge", charges(), API{Settle: settle}, nil, find), acts},
		{Natural("charge", charges(), API{}, nil), acts},
		{Conditional("charge", charges(), API{}, nil, find), acts},
		{Conditional("charge", charges(), API{}, request, noRead), acts},
		{AtMostOnce("charge", charges(), API{}, nil), acts},
		{AtLeastOnce("charge", charges(), API{}, guard.Waiver{}, request), "it may be doubled: its waiver has to say who accepts that, why, and until when it holds"},
	} {
		_, err := guard.New(noLedger{}, c.effect)
		require.EqualError(t, err, "guard: effects are not declared safely: effect charge: "+c.want)
	}
}

func TestWhatStarts(t *testing.T) {
	t.Parallel()
	request, find := post("https://bank.example/charges"), byID("https://bank.example/charges")
	waiver := guard.Waiver{Owner: "ops", Reason: "the chat tolerates repeats", Until: time.Now()}
	_, err := guard.New(noLedger{},
		Keyed("stripe", charges(), bank(), request, find),
		Keyed("draft", charges(), Draft("bank", time.Hour), request, find, guard.Attempts(2)),
		Reconciled("transfer", charges(), API{Settle: settle}, request, find),
		Natural("tag", charges(), API{}, request),
		Conditional("stock", charges(), API{}, request, find),
		AtMostOnce("mail", charges(), API{}, request),
		AtLeastOnce("chat", charges(), API{}, waiver, request),
	)
	require.NoError(t, err)
}

// TestAKeyTravelsInEveryKeyedEffect: also if the API does not say how.
func TestAKeyTravelsInEveryKeyedEffect(t *testing.T) {
	t.Parallel()
	r := startRemote(t)
	e := keyedOn(r, API{Remote: "bank", Window: time.Hour, Settle: settle})
	require.Equal(t, guard.Performed, attempt(t.Context(), t, e, anOrder()).Verdict)
	require.Equal(t, guard.Performed, attempt(t.Context(), t, e, anOrder()).Verdict)
	require.Equal(t, 1, r.Effects("o-1"))
	require.Len(t, r.Keys("o-1"), 1)
	require.Len(t, r.Keys("o-1")[0], 64)
}

func answering(t *testing.T, status int) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	t.Cleanup(server.Close)
	return server.URL
}

func TestNaturalSendsOnlyWhatMayBeRepeated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method string
		status int
		want   guard.Verdict
	}{
		{http.MethodPut, 200, guard.Performed},
		{http.MethodPut, 404, guard.Refused},
		{http.MethodPut, 410, guard.Refused},
		{http.MethodDelete, 204, guard.Performed},
		{http.MethodDelete, 404, guard.Performed},
		{http.MethodDelete, 410, guard.Performed},
		{http.MethodDelete, 409, guard.Refused},
		{http.MethodPost, 200, guard.Unsent},
		{http.MethodPatch, 200, guard.Unsent},
	} {
		e := Natural("tag", charges(), API{}, with(c.method, answering(t, c.status), nil))
		reply := attempt(t.Context(), t, e, anOrder())
		require.Equal(t, c.want, reply.Verdict, "%s %d", c.method, c.status)
		if c.want == guard.Unsent {
			require.Equal(t, `not sent: its method is "`+c.method+`": want PUT or DELETE`, reply.Detail)
		}
	}
}

// TestAConditionThatFailed: the look-up tells our own write from a foreign one.
func TestAConditionThatFailed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status, found int
		want          guard.Verdict
		detail        string
	}{
		{200, 0, guard.Performed, `^PUT 127\.0\.0\.1:\d+: 200$`},
		{412, 200, guard.Performed, `^PUT 127\.0\.0\.1:\d+: 412; GET 127\.0\.0\.1:\d+: 200$`},
		{412, 404, guard.Refused, `^PUT 127\.0\.0\.1:\d+: 412; GET 127\.0\.0\.1:\d+: 404$`},
		{412, 500, guard.Unclear, `^PUT 127\.0\.0\.1:\d+: 412; GET 127\.0\.0\.1:\d+: 500$`},
		{404, 0, guard.Refused, `^PUT 127\.0\.0\.1:\d+: 404$`},
	} {
		asked := 0
		reread := Lookup[order]{Read: Exists, Ask: func(guard.Call, order) (Request, error) {
			asked++
			return Request{URL: answering(t, c.found)}, nil
		}}
		e := Conditional("stock", charges(), API{}, with(http.MethodPut, answering(t, c.status), http.Header{"if-match": {`"7"`}}), reread)
		reply := attempt(t.Context(), t, e, anOrder())
		require.Equal(t, c.want, reply.Verdict)
		require.Regexp(t, c.detail, reply.Detail)
		require.Equal(t, c.status == 412, asked == 1)
	}
	e := Conditional("stock", charges(), API{}, post("http://bank.example"), byID("http://bank.example"))
	require.Equal(t, guard.Reply{Verdict: guard.Unsent, Detail: "not sent: it has no condition: want If-Match or If-None-Match"},
		attempt(t.Context(), t, e, anOrder()))
}
