package httpcall

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/eos/guard"
)

const (
	digits = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
	asUUID = "00010203-0405-8607-8809-0a0b0c0d0e0f"
)

func aCall() (call guard.Call) {
	for i := range call.Sum {
		call.Sum[i] = byte(i)
	}
	return call
}

func TestHowTheKeyTravels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		api          API
		body         string
		header, want string
		wantBody     string
	}{
		{StripeLike("bank"), `{"a":1}`, "Idempotency-Key", digits, `{"a":1}`},
		{Draft("bank", time.Hour), `{"a":1}`, "Idempotency-Key", `"` + digits + `"`, `{"a":1}`},
		{API{KeyHeader: "paypal-request-id", KeyForm: guard.Sum.UUID}, `{"a":1}`, "PayPal-Request-Id", asUUID, `{"a":1}`},
		{API{KeyField: "idempotency_key", KeyForm: guard.Sum.UUID}, " {\"a\": 12345678901234567890 }\n", "Idempotency-Key", "", `{"idempotency_key":"` + asUUID + `","a": 12345678901234567890 }` + "\n"},
		{API{KeyField: "ref"}, `{}`, "Idempotency-Key", "", `{"ref":"` + digits + `"}`},
		{API{}, `no json`, "Idempotency-Key", "", `no json`},
	} {
		r := Request{Method: http.MethodPost, URL: "https://bank.example/charges", Header: http.Header{"x-tag": {"1", "2"}}, Body: []byte(c.body)}
		req, err := c.api.effect(t.Context(), aCall(), r)
		require.NoError(t, err)
		require.Equal(t, c.want, req.Header.Get(c.header))
		require.Equal(t, []string{"1", "2"}, req.Header.Values("X-Tag"))
		body, err := io.ReadAll(req.Body)
		require.NoError(t, err)
		require.Equal(t, c.wantBody, string(body))
		require.Equal(t, int64(len(body)), req.ContentLength)
		require.Nil(t, req.GetBody)
		require.Equal(t, http.Header{"x-tag": {"1", "2"}}, r.Header, "the payload's header is not ours to change")
	}
}

// TestARequestThatIsNotSent: each has its reason, and none shows the URL.
func TestARequestThatIsNotSent(t *testing.T) {
	t.Parallel()
	const url = "https://bank.example/charges?token=secret"
	ok := Request{Method: http.MethodPost, URL: url, Body: []byte(`{"a":1}`)}
	but := func(change func(*Request)) Request {
		r := ok
		change(&r)
		return r
	}
	at := func(url string) Request { return but(func(r *Request) { r.URL = url }) }
	field := API{KeyField: "key"}
	for _, c := range []struct {
		api  API
		r    Request
		want string
	}{
		{bank(), but(func(r *Request) { r.Method = "GET" }), `its method is "GET": want POST, PUT, PATCH or DELETE`},
		{bank(), but(func(r *Request) { r.Method = "" }), `its method is "": want POST, PUT, PATCH or DELETE`},
		{bank(), but(func(r *Request) { r.Header = http.Header{"idempotency-key": {"mine"}} }), `its header already holds Idempotency-Key`},
		{field, but(func(r *Request) { r.Body = []byte(`{"key":"mine"}`) }), `its body already holds "key"`},
		{field, but(func(r *Request) { r.Body = []byte(`[1]`) }), `its body is not a JSON object, in which the key could travel as "key"`},
		{field, but(func(r *Request) { r.Body = []byte(`null`) }), `its body is not a JSON object, in which the key could travel as "key"`},
		{field, but(func(r *Request) { r.Body = nil }), `its body is not a JSON object, in which the key could travel as "key"`},
		{bank(), at("/charges?token=secret"), `its URL is not an absolute one`},
		{bank(), at("https://bank.example/\x00?token=secret"), `its URL is not an absolute one`},
		{bank(), at("https://me:secret@bank.example/"), `its URL holds credentials: add them in Authorize`},
		{API{Authorize: func(*http.Request) error { return errors.New("no token") }}, ok, `authorize: no token`},
	} {
		e := AtMostOnce("charge", charges(), c.api, func(order) (Request, error) { return c.r, nil })
		reply := attempt(t.Context(), t, e, anOrder())
		require.Equal(t, guard.Unsent, reply.Verdict, c.want)
		require.Equal(t, "not sent: "+c.want, reply.Detail)
		require.Equal(t, c.api.Authorize != nil, reply.Pause, "only credentials are missing for all: %s", c.want)
	}
	e := AtMostOnce("charge", charges(), API{}, func(order) (Request, error) { return Request{}, errors.New("no\naccount") })
	require.Equal(t, guard.Reply{Verdict: guard.Unsent, Detail: "not sent: no account"}, attempt(t.Context(), t, e, anOrder()))
}

func TestAuthorizeAddsToRequestsAndLookups(t *testing.T) {
	t.Parallel()
	r := startRemote(t)
	api := bank()
	seen := 0
	api.Authorize = func(req *http.Request) error {
		seen++
		req.Header.Set("Authorization", "Bearer secret")
		_, err := io.ReadAll(req.Body) // as one who signs it
		return err
	}
	e := keyedOn(r, api)
	reply := attempt(t.Context(), t, e, anOrder())
	require.Equal(t, guard.Performed, reply.Verdict)
	require.Equal(t, "Bearer secret", r.Requests()[0].Header.Get("Authorization"))
	require.JSONEq(t, `{"id":"o-1","cents":100}`, string(r.Requests()[0].Body))
	require.Equal(t, guard.There, ask(t.Context(), t, e, anOrder()).Found)
	require.Equal(t, 2, seen)
}
