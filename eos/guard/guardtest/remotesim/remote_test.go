package remotesim_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/eos/guard/guardtest/remotesim"
)

const payment = `{"id":"o-1","cents":100}`

func start(t *testing.T) *remotesim.Remote {
	t.Helper()
	r, err := remotesim.Start(t.Context())
	require.NoError(t, err)
	t.Cleanup(r.Close)
	return r
}

// answer is what a request came to; of one that was cut off only Err is set.
type answer struct {
	Status int
	Body   string
	Header http.Header
	Err    error
}

// request sends one request on a connection of its own.
func request(ctx context.Context, method, url, key, body string) (a answer) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return answer{Err: err}
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return answer{Err: err}
	}
	text, err := io.ReadAll(resp.Body)
	return answer{Status: resp.StatusCode, Body: string(text), Header: resp.Header, Err: errors.Join(err, resp.Body.Close())}
}

func pay(t *testing.T, r *remotesim.Remote, key string) answer {
	t.Helper()
	return request(t.Context(), http.MethodPost, r.URL()+"/payments", key, payment)
}

func TestAKeyIsHonoured(t *testing.T) {
	t.Parallel()
	r := start(t)
	first := pay(t, r, "k")
	require.Equal(t, http.StatusOK, first.Status)
	require.JSONEq(t, `{"id":"o-1","effect":1}`, first.Body)
	require.Empty(t, first.Header.Get("Idempotent-Replayed"))
	again := pay(t, r, "k")
	require.Equal(t, first.Body, again.Body)
	require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
	require.Equal(t, http.StatusUnprocessableEntity, request(t.Context(), http.MethodPost, r.URL()+"/payments", "k", `{"id":"o-1","cents":101}`).Status)
	require.Equal(t, 1, r.Effects("o-1"))

	r.ForgetKeys()
	require.JSONEq(t, `{"id":"o-1","effect":2}`, pay(t, r, "k").Body)
	r.IgnoreKeys()
	require.JSONEq(t, `{"id":"o-1","effect":3}`, pay(t, r, "k").Body)
	pay(t, r, "")
	require.Equal(t, 4, r.Effects("o-1"))
	require.Equal(t, 3, r.EffectsUnder("k"))
	require.Equal(t, 6, r.Posts("o-1"))
	require.Equal(t, []string{"k", ""}, r.Keys("o-1"))
}

func TestWhatIdentifiesAPayment(t *testing.T) {
	t.Parallel()
	r := start(t)
	for _, c := range []struct{ path, body, id, key string }{
		{"/payments", `{"id":"json"}`, "json", ""},
		{"/payments", `{"id":12345678901234567890}`, "12345678901234567890", ""},
		{"/payments", `{"id":"field","idempotency_key":"k1"}`, "field", "k1"},
		{"/payments", "id=form&cents=1", "form", ""},
		{"/payments?id=query", "", "query", ""},
		{"/payments/path", "", "path", ""},
	} {
		require.Equal(t, http.StatusOK, request(t.Context(), http.MethodPut, r.URL()+c.path, "", c.body).Status)
		require.Equal(t, 1, r.Effects(c.id), c.id)
		require.Equal(t, []string{c.key}, r.Keys(c.id))
	}
	require.Len(t, r.Requests(), 6)
	require.Equal(t, "/payments/path", r.Requests()[5].Path)
}

func TestLookups(t *testing.T) {
	t.Parallel()
	r := start(t)
	look := func(query string) answer { return request(t.Context(), http.MethodGet, r.URL()+query, "", "") }
	require.Equal(t, http.StatusNotFound, look("/payments/o-1").Status)
	pay(t, r, "k")
	for _, query := range []string{"/payments/o-1", "/payments?id=o-1", "/payments?key=k"} {
		require.Equal(t, http.StatusOK, look(query).Status)
		require.JSONEq(t, `{"id":"o-1","effect":1}`, look(query).Body)
	}
	require.Equal(t, 5, r.Asked("o-1"))
	require.Equal(t, 2, r.Asked("k"))

	r.Lookups(func(asked string, there bool) int { // a liar
		if there {
			return http.StatusNotFound
		}
		return http.StatusOK
	})
	require.Equal(t, http.StatusNotFound, look("/payments/o-1").Status)
	require.Equal(t, http.StatusOK, look("/payments/o-2").Status)
	require.Equal(t, 1, r.Posts("o-1"))
}

func TestBehaviours(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		behaviour remotesim.Behaviour
		status    int // of the first answer; 0: none
		effects   int // after it
		again     int // of a repeat under the same key
		after     int // effects after that
	}{
		"answer":               {remotesim.Answer(), 200, 1, 200, 1},
		"zero":                 {remotesim.Behaviour{}, 200, 1, 200, 1},
		"act, then drop":       {remotesim.ActThenDrop(), 0, 1, 200, 1},
		"saved failure":        {remotesim.SavedFailure(500, false), 500, 0, 500, 0},
		"saved failure, acted": {remotesim.SavedFailure(500, true), 500, 1, 500, 1},
		"busy":                 {remotesim.Busy("2"), 409, 0, 200, 1},
		"limit":                {remotesim.Limit(""), 429, 0, 200, 1},
		"reject":               {remotesim.Reject(503, ""), 503, 0, 200, 1},
		"say":                  {remotesim.Say(400, "no"), 400, 0, 200, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			r.Next(c.behaviour)
			first := pay(t, r, "k")
			require.Equal(t, c.status, first.Status)
			require.Equal(t, c.status == 0, first.Err != nil)
			require.Equal(t, c.effects, r.Effects("o-1"))
			require.Equal(t, c.again, pay(t, r, "k").Status)
			require.Equal(t, c.after, r.Effects("o-1"))
			require.Equal(t, 2, r.Posts("o-1"))
		})
	}
}

func TestRetryAfterIsSent(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.Next(remotesim.Limit("7"), remotesim.Busy(""))
	require.Equal(t, "7", pay(t, r, "k").Header.Get("Retry-After"))
	require.Empty(t, pay(t, r, "k").Header.Values("Retry-After"))
}

func TestBehavioursByCount(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.Otherwise(func(q remotesim.Request) remotesim.Behaviour {
		if r.Posts(q.ID) < 3 {
			return remotesim.Limit("1")
		}
		return remotesim.Answer()
	})
	r.Next(remotesim.Reject(http.StatusBadGateway, ""))
	for _, status := range []int{502, 429, 200} {
		require.Equal(t, status, pay(t, r, "k").Status)
	}
	r.Otherwise(nil)
	require.Equal(t, 200, pay(t, r, "k").Status)
}

// TestGates: what waits at a gate is under way, and is acted on when it opens.
func TestGates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		behaviour func(*remotesim.Gate) remotesim.Behaviour
		cut       bool
		waiting   int // effects while it waits
		repeat    int // status of a repeat meanwhile
	}{
		"slow":           {remotesim.Slow, false, 0, 409},
		"act, then slow": {remotesim.ActThenSlow, false, 1, 200},
		"slow body":      {remotesim.SlowBody, false, 1, 200},
		"drop, then act": {remotesim.DropThenAct, true, 0, 409},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			gate := remotesim.NewGate()
			r.Next(c.behaviour(gate))
			first := make(chan answer, 1) // of the one request
			go func() { first <- pay(t, r, "k") }()
			<-gate.Reached()
			require.Equal(t, c.waiting, r.Effects("o-1"))
			require.Equal(t, c.repeat, pay(t, r, "k").Status)
			gate.Open()
			gate.Open()
			<-gate.Passed()
			a := <-first
			require.Equal(t, c.cut, a.Err != nil, "%v", a.Err)
			if !c.cut {
				require.JSONEq(t, `{"id":"o-1","effect":1}`, a.Body)
			}
			require.Equal(t, 1, r.Effects("o-1"))
			require.Equal(t, 200, pay(t, r, "k").Status)
		})
	}
}

func TestConnectionsAreRefused(t *testing.T) {
	t.Parallel()
	r := start(t)
	url := r.URL()
	require.ErrorContains(t, r.Accept(t.Context()), "address already in use")
	r.Refuse()
	r.Refuse()
	require.ErrorContains(t, pay(t, r, "k").Err, "connection refused")
	require.NoError(t, r.Accept(t.Context()))
	require.Equal(t, url, r.URL())
	require.Equal(t, 200, pay(t, r, "k").Status)
	require.Equal(t, 1, r.Posts("o-1"))
}

// TestCloseWaitsForNoGate: and what waits there has no effect any more.
func TestCloseWaitsForNoGate(t *testing.T) {
	t.Parallel()
	r := start(t)
	gate := remotesim.NewGate()
	r.Next(remotesim.DropThenAct(gate))
	require.Error(t, pay(t, r, "k").Err)
	<-gate.Reached()
	r.Close()
	r.Close()
	gate.Open()
	require.Equal(t, 0, r.Effects("o-1"))
}
