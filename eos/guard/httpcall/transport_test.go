package httpcall

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/eos/guard"
)

// breaking lets so many bytes pass and fails then.
type breaking struct {
	net.Conn
	left int
}

func (b *breaking) Write(p []byte) (int, error) {
	if len(p) <= b.left {
		b.left -= len(p)
		return b.Conn.Write(p)
	}
	n, err := b.Conn.Write(p[:b.left])
	b.left = 0
	if err == nil {
		err = errors.New("broken pipe")
	}
	return n, err
}

// TestOneByteMakesTheDifference: a connection that cannot be written to leaves
// the effect unsent, and one byte leaves it unclear.
func TestOneByteMakesTheDifference(t *testing.T) {
	t.Parallel()
	r := startRemote(t)
	for pass, want := range map[int]guard.Verdict{0: guard.Unsent, 1: guard.Unclear, 100: guard.Unclear, 1 << 20: guard.Performed} {
		api := bank()
		api.Base = &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, addr)
			return &breaking{Conn: conn, left: pass}, err
		}}
		reply := attempt(t.Context(), t, keyedOn(r, api), anOrder())
		require.Equal(t, want, reply.Verdict, "%d bytes: %s", pass, reply.Detail)
	}
	require.Equal(t, 1, r.Posts("o-1"))
}

// TestACountIsOfOneRequest: what earlier requests wrote on the connection does
// not count.
func TestACountIsOfOneRequest(t *testing.T) {
	t.Parallel()
	r := startRemote(t)
	api := bank()
	conn := &breaking{left: 1 << 20}
	api.Base = &http.Transport{DialContext: func(ctx context.Context, network, addr string) (_ net.Conn, err error) {
		if conn.Conn != nil {
			return nil, errors.New("a second connection")
		}
		conn.Conn, err = new(net.Dialer).DialContext(ctx, network, addr)
		return conn, err
	}}
	e := keyedOn(r, api)
	require.Equal(t, guard.Performed, attempt(t.Context(), t, e, order{ID: "o-0"}).Verdict)
	conn.left = 0
	reply := attempt(t.Context(), t, e, anOrder())
	require.Equal(t, guard.Unsent, reply.Verdict, reply.Detail)
	require.Equal(t, 0, r.Posts("o-1"))
}

// TestTLSOverHTTP1Only: the connection is counted below TLS, and a remote that
// offers HTTP/2 gets HTTP/1.1, whatever the base asks for.
func TestTLSOverHTTP1Only(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Proto", r.Proto)
		if requests.Add(1) > 1 {
			panic(http.ErrAbortHandler)
		}
	}))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of a stranger to its certificate
	server.StartTLS()
	t.Cleanup(server.Close)
	base, ok := server.Client().Transport.(*http.Transport)
	require.True(t, ok)
	base = base.Clone()
	base.ForceAttemptHTTP2 = true
	base.TLSClientConfig.NextProtos = []string{"h2"}

	proto := ""
	api := API{Base: base, Means: func(_ int, h http.Header, _ []byte) (guard.Reply, bool) {
		proto = h.Get("X-Proto")
		return guard.Reply{}, false
	}}
	e := AtMostOnce("charge", charges(), api, post(server.URL))
	reply := attempt(t.Context(), t, e, anOrder())
	require.Equal(t, guard.Performed, reply.Verdict, reply.Detail)
	require.Equal(t, "HTTP/1.1", proto)
	reply = attempt(t.Context(), t, e, anOrder())
	require.Equal(t, guard.Unclear, reply.Verdict, reply.Detail)
	require.Equal(t, int64(2), requests.Load())

	stranger := AtMostOnce("charge", charges(), API{}, post(server.URL)) // does not know the certificate
	reply = attempt(t.Context(), t, stranger, anOrder())
	require.Equal(t, guard.Unsent, reply.Verdict, reply.Detail)

	base.DialTLSContext = (&tls.Dialer{Config: &tls.Config{RootCAs: base.TLSClientConfig.RootCAs}}).DialContext
	reply = attempt(t.Context(), t, AtMostOnce("charge", charges(), api, post(server.URL)), anOrder())
	require.Equal(t, guard.Unclear, reply.Verdict, reply.Detail)
	require.Equal(t, int64(3), requests.Load())
}

// TestAnEffectFollowsNoRedirect: neither to where it would act a second time, nor
// as a GET that acts on nothing.
func TestAnEffectFollowsNoRedirect(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]meaning{
		301: {guard.Unclear, false}, 302: {guard.Unclear, false}, 303: {guard.Unclear, false},
		307: {guard.Unsent, true}, 308: {guard.Unsent, true},
	} {
		var requests atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			http.Redirect(w, r, "/elsewhere", status)
		}))
		t.Cleanup(server.Close)
		reply := attempt(t.Context(), t, AtMostOnce("charge", charges(), API{}, post(server.URL)), anOrder())
		require.Equal(t, want, meaning{reply.Verdict, reply.Pause}, status)
		require.Equal(t, int64(1), requests.Load(), status)
	}
}

func TestAnAnswerIsBounded(t *testing.T) {
	t.Parallel()
	var size atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(bytes.Repeat([]byte("x"), int(size.Load()))) // the client stops reading
	}))
	t.Cleanup(server.Close)
	seen := 0
	api := API{Settle: settle, Means: func(_ int, _ http.Header, body []byte) (guard.Reply, bool) {
		seen = len(body)
		return guard.Reply{}, false
	}}
	e := Reconciled("charge", charges(), api, post(server.URL), Lookup[order]{
		Ask:  func(guard.Call, order) (Request, error) { return Request{URL: server.URL}, nil },
		Read: Exists,
	})
	size.Store(64 << 10)
	reply := attempt(t.Context(), t, e, anOrder())
	require.Len(t, reply.Result, 64<<10)
	require.Equal(t, guard.There, ask(t.Context(), t, e, anOrder()).Found)
	size.Store(64<<10 + 1)
	reply = attempt(t.Context(), t, e, anOrder())
	require.Equal(t, guard.Performed, reply.Verdict)
	require.Nil(t, reply.Result, "half a document is none")
	require.Equal(t, 64<<10, seen)
	require.Regexp(t, `: 200, longer than 64 KiB and not kept$`, reply.Detail)
	require.Equal(t, guard.NoAnswer, ask(t.Context(), t, e, anOrder()).Found)
}

// TestDetailsHoldNoSecret: of the query, the header, the body or the proxy.
func TestDetailsHoldNoSecret(t *testing.T) {
	t.Parallel()
	r := startRemote(t)
	api := API{Settle: settle, Authorize: func(req *http.Request) error {
		req.Header.Set("Authorization", "secret")
		req.URL.RawQuery += "&token=secret"
		return nil
	}}
	declare := func(api API) *guard.Effect[order] {
		return Reconciled("charge", charges(), api, post(r.URL()+"/ch%20arges?key=secret"), byID(r.URL()+"/charges"))
	}
	e := declare(api)
	require.Regexp(t, `^POST 127\.0\.0\.1:\d+/ch%20arges: 200$`, attempt(t.Context(), t, e, anOrder()).Detail)
	require.Regexp(t, `^GET 127\.0\.0\.1:\d+/charges: 200$`, ask(t.Context(), t, e, anOrder()).Detail)
	r.Refuse()
	require.NotContains(t, attempt(t.Context(), t, e, anOrder()).Detail, "secret")
	require.NotContains(t, ask(t.Context(), t, e, anOrder()).Detail, "secret")

	api.Base = &http.Transport{Proxy: func(*http.Request) (*url.URL, error) {
		return url.Parse("http://me:secret@proxy.example:port") //nolint:staticcheck // malformed on purpose
	}}
	e = declare(api)
	require.Regexp(t, `: not sent: the address of the proxy is malformed$`, attempt(t.Context(), t, e, anOrder()).Detail)
	require.Regexp(t, `: no answer: the address of the proxy is malformed$`, ask(t.Context(), t, e, anOrder()).Detail)
}
