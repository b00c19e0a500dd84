package httpcall

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/eos/guard"
	"github.com/weirstream/weir/eos/guard/guardtest/remotesim"
)

// soon is a deadline that passes while the remote holds still: that an attempt
// returns at all shows that it keeps to it.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

// TestTheDeadlineIsKeptWhereverTheRemoteHoldsStill: and what is said then depends
// on whether the remote may act on it.
func TestTheDeadlineIsKeptWhereverTheRemoteHoldsStill(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		behaviour func(*remotesim.Gate) remotesim.Behaviour
		effects   int // when the attempt ended
		detail    string
	}{
		"before it acts":                        {remotesim.Slow, 0, "no answer: the attempt ran out of time"},
		"after it acted":                        {remotesim.ActThenSlow, 1, "no answer: the attempt ran out of time"},
		"in the middle of its answer, with 200": {remotesim.SlowBody, 1, "200, cut off: the attempt ran out of time"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startRemote(t)
			gate := remotesim.NewGate()
			r.Next(c.behaviour(gate))
			e := keyedOn(r, bank())
			reply := attempt(soon(t), t, e, anOrder())
			require.Equal(t, guard.Unclear, reply.Verdict)
			require.Regexp(t, `^POST 127\.0\.0\.1:\d+/charges: `+c.detail+`$`, reply.Detail)
			<-gate.Reached()
			require.Equal(t, c.effects, r.Effects("o-1"))

			gate.Open()
			<-gate.Passed()
			again := attempt(t.Context(), t, e, anOrder())
			require.Equal(t, guard.Performed, again.Verdict)
			require.Equal(t, 1, r.Effects("o-1"))
			require.Equal(t, 2, r.Posts("o-1"))
		})
	}
}

// TestACancelledAttemptIsUnclear: of a shutdown that cuts it off.
func TestACancelledAttemptIsUnclear(t *testing.T) {
	t.Parallel()
	r := startRemote(t)
	gate := remotesim.NewGate()
	r.Next(remotesim.Slow(gate))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // ends with the attempt
		<-gate.Reached()
		cancel()
	}()
	reply := attempt(ctx, t, keyedOn(r, bank()), anOrder())
	require.Equal(t, guard.Unclear, reply.Verdict)
	require.Regexp(t, `: no answer: the attempt was cancelled$`, reply.Detail)
	reply = attempt(ctx, t, keyedOn(r, bank()), anOrder())
	require.Equal(t, guard.Unsent, reply.Verdict, "over before it began: %s", reply.Detail)
	require.Equal(t, 1, r.Posts("o-1"))
}

func TestALookupKeepsToItsDeadline(t *testing.T) {
	t.Parallel()
	r := startRemote(t)
	hold := make(chan struct{})
	t.Cleanup(func() { close(hold) }) // before the remote is closed
	r.Lookups(func(string, bool) int {
		<-hold
		return http.StatusNotFound
	})
	answer := ask(soon(t), t, keyedOn(r, bank()), anOrder())
	require.Equal(t, guard.NoAnswer, answer.Found)
	require.Regexp(t, `^GET 127\.0\.0\.1:\d+/charges: no answer: the attempt ran out of time$`, answer.Detail)
}

// silent accepts connections and reads nothing.
func silent(t *testing.T) (address string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l.Addr().String()
}

// TestARequestThatNobodyReads: half of it may lie in the remote's buffers.
func TestARequestThatNobodyReads(t *testing.T) {
	t.Parallel()
	url := "http://" + silent(t) + "/charges"
	e := AtMostOnce("charge", charges(), API{}, func(order) (Request, error) {
		return Request{Method: http.MethodPost, URL: url, Body: bytes.Repeat([]byte("x"), 64<<20)}, nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Second) // long enough to connect on a busy machine
	defer cancel()
	reply := attempt(ctx, t, e, anOrder())
	require.Equal(t, guard.Unclear, reply.Verdict, reply.Detail)
}

// TestATLSHandshakeThatHangs: there was no connection to send anything on.
func TestATLSHandshakeThatHangs(t *testing.T) {
	t.Parallel()
	e := AtMostOnce("charge", charges(), API{}, post("https://"+silent(t)+"/charges"))
	reply := attempt(soon(t), t, e, anOrder())
	require.Equal(t, guard.Unsent, reply.Verdict, reply.Detail)
}

func TestADialThatHangs(t *testing.T) {
	t.Parallel()
	api := API{Base: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}}}
	e := AtMostOnce("charge", charges(), api, post("http://bank.example/charges"))
	reply := attempt(soon(t), t, e, anOrder())
	require.Equal(t, guard.Reply{Verdict: guard.Unsent, Detail: "POST bank.example/charges: not sent: the attempt ran out of time"}, reply)
}
