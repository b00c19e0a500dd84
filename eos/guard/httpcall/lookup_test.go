package httpcall

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/eos/guard"
)

// TestWhoMayAnswerALookup: Read is asked for an answer about the effect only. A
// Read that takes everything but 200 for absent does no harm with a remote that
// is down.
func TestWhoMayAnswerALookup(t *testing.T) {
	t.Parallel()
	r := startRemote(t)
	rash := byID(r.URL() + "/charges")
	rash.Read = func(status int, _ http.Header, _ []byte) guard.Answer {
		if status == http.StatusOK {
			return guard.Answer{Found: guard.There}
		}
		return guard.Answer{Found: guard.Absent}
	}
	e := Reconciled("charge", charges(), API{Settle: settle}, post(r.URL()+"/charges"), rash)
	silent := map[int]bool{401: true, 403: true, 407: true, 408: true, 421: true, 425: true, 429: true}
	for status := 200; status <= 599; status++ {
		r.Lookups(func(string, bool) int { return status })
		want := guard.Absent
		switch {
		case status == http.StatusOK:
			want = guard.There
		case silent[status], status/100 == 3, status/100 == 5:
			want = guard.NoAnswer
		}
		require.Equal(t, want, ask(t.Context(), t, e, anOrder()).Found, status)
	}
	r.Refuse()
	require.Equal(t, guard.NoAnswer, ask(t.Context(), t, e, anOrder()).Found)
}

func TestExistsTakesOnly404ForAbsent(t *testing.T) {
	t.Parallel()
	for status := 200; status <= 599; status++ {
		want := guard.Answer{}
		switch status {
		case http.StatusOK:
			want = guard.Answer{Found: guard.There, Result: []byte("it")}
		case http.StatusNotFound:
			want = guard.Answer{Found: guard.Absent}
		}
		require.Equal(t, want, Exists(status, nil, []byte("it")), status)
	}
}

func TestALookupMayAskByTheKey(t *testing.T) {
	t.Parallel()
	r := startRemote(t)
	find := Lookup[order]{
		Ask: func(call guard.Call, _ order) (Request, error) {
			return Request{URL: r.URL() + "/charges?key=" + call.Sum.UUID()}, nil
		},
		Read: Exists,
	}
	api := API{KeyField: "idempotency_key", KeyForm: guard.Sum.UUID, Settle: settle}
	e := Reconciled("charge", charges(), api, post(r.URL()+"/charges"), find)
	require.Equal(t, guard.Absent, ask(t.Context(), t, e, anOrder()).Found)
	require.Equal(t, guard.Performed, attempt(t.Context(), t, e, anOrder()).Verdict)
	answer := ask(t.Context(), t, e, anOrder())
	require.Equal(t, guard.There, answer.Found)
	require.JSONEq(t, `{"id":"o-1","effect":1}`, string(answer.Result))
	require.Equal(t, 1, r.EffectsUnder(r.Keys("o-1")[0]))
}

// TestALookupThatCannotBeAsked says so, and proves nothing.
func TestALookupThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		r    Request
		err  error
		want string
	}{
		{err: errors.New("no account"), want: "not asked: no account"},
		{r: Request{URL: "charges"}, want: "not asked: its URL is not an absolute one"},
		{r: Request{URL: "http://bank.example", Method: "G T"}, want: `not asked: its method "G T" is none`},
	} {
		e := Reconciled("charge", charges(), API{}, post("http://bank.example"), Lookup[order]{
			Ask:  func(guard.Call, order) (Request, error) { return c.r, c.err },
			Read: Exists,
		})
		require.Equal(t, guard.Answer{Detail: c.want}, ask(t.Context(), t, e, anOrder()))
	}
}

// TestARedirectedLookup: a GET follows it to the same host, and never takes its
// credentials elsewhere.
func TestARedirectedLookup(t *testing.T) {
	t.Parallel()
	elsewhere := startRemote(t)
	mux := http.NewServeMux()
	mux.HandleFunc("/old", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/new", http.StatusMovedPermanently) })
	mux.HandleFunc("/new", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/round", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/round", http.StatusFound) })
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL()+"/stolen", http.StatusFound)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	for _, c := range []struct {
		method, path string
		want         guard.Found
	}{
		{http.MethodGet, "/old", guard.There},
		{http.MethodPost, "/old", guard.NoAnswer},
		{http.MethodGet, "/round", guard.NoAnswer},
		{http.MethodGet, "/away", guard.NoAnswer},
	} {
		e := Reconciled("charge", charges(), API{}, post(server.URL), Lookup[order]{
			Ask: func(guard.Call, order) (Request, error) {
				return Request{Method: c.method, URL: server.URL + c.path, Header: http.Header{"X-Api-Key": {"secret"}}}, nil
			},
			Read: Exists,
		})
		answer := ask(t.Context(), t, e, anOrder())
		require.Equal(t, c.want, answer.Found, c.path)
		require.True(t, strings.HasPrefix(answer.Detail, c.method+" "), answer.Detail)
	}
	require.Equal(t, 0, elsewhere.Asked("stolen"))
}
