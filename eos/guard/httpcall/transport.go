package httpcall

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"
)

// maxBody is how much of an answer is read.
const maxBody = 64 << 10

// ownTransport is base, such that a request is sent once and it is known whether
// anything of it was.
//
// HTTP/2 is off: its client repeats requests by itself, and streams share a
// connection, so that nobody could say whose bytes have left.
func ownTransport(base *http.Transport) *http.Transport {
	if base == nil {
		base = &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			MaxIdleConnsPerHost: 64, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second,
		}
	}
	t := base.Clone()
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	t.ForceAttemptHTTP2 = false
	t.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	if t.TLSClientConfig != nil {
		t.TLSClientConfig.NextProtos = nil
	}
	dial := t.DialContext
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	t.DialContext = counted(dial)
	if t.DialTLSContext != nil {
		t.DialTLSContext = counted(t.DialTLSContext)
	}
	if proxy := t.Proxy; proxy != nil {
		t.Proxy = func(req *http.Request) (*url.URL, error) {
			u, err := proxy(req)
			if err != nil {
				return nil, errProxy // theirs may show the proxy's password
			}
			return u, nil
		}
	}
	return t
}

var errProxy = errors.New("the address of the proxy is malformed")

type dialer = func(ctx context.Context, network, addr string) (net.Conn, error)

func counted(dial dialer) dialer {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &countedConn{Conn: conn}, nil
	}
}

// countedConn counts what was written to it.
type countedConn struct {
	net.Conn
	written atomic.Int64
}

func (c *countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.written.Add(int64(n))
	return n, err
}

// leaving knows whether a byte of one request may have left. It belongs to the
// goroutine of the request.
type leaving struct {
	conn  *countedConn
	start int64
	left  bool
}

// got is told of every connection that the request is given; a second one means
// that on the first nothing was written, or that net/http repeated the request.
func (l *leaving) got(info httptrace.GotConnInfo) {
	l.left = l.anything()
	l.conn = countedBelow(info.Conn)
	if l.conn == nil {
		l.left = true // nobody can tell
		return
	}
	l.start = l.conn.written.Load()
}

// anything must be called when nothing is written any more: the transport fails
// a request only after the one who writes it has stopped.
func (l *leaving) anything() bool {
	return l.left || l.conn != nil && l.conn.written.Load() != l.start
}

// countedBelow looks below layers of TLS.
func countedBelow(conn net.Conn) *countedConn {
	for {
		switch c := conn.(type) {
		case *countedConn:
			return c
		case interface{ NetConn() net.Conn }:
			conn = c.NetConn()
		default:
			return nil
		}
	}
}

// outcome is everything that is known of one attempt.
type outcome struct {
	err    error // there is no answer, or only its beginning
	left   bool  // a byte of the request may have left
	status int   // 0: no answer began
	header http.Header
	body   []byte // at most maxBody
	long   bool   // there was more of it
}

// send makes one attempt. It ends no later than the request's context.
func send(t *http.Transport, req *http.Request) outcome {
	var l leaving
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{GotConn: l.got})
	resp, err := t.RoundTrip(req.WithContext(ctx)) // not a Client: that would follow redirects
	if err != nil {
		return outcome{err: err, left: l.anything()}
	}
	return read(resp)
}

// read takes the answer and closes it. One that is longer than maxBody costs its
// connection.
func read(resp *http.Response) outcome {
	defer func() { _ = resp.Body.Close() }() // everything that matters was read
	o := outcome{left: true, status: resp.StatusCode, header: resp.Header}
	o.body, o.err = io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if len(o.body) > maxBody {
		o.body, o.long = o.body[:maxBody], true
	}
	return o
}

// asker asks over t. It follows redirects of GET to the same scheme and host:
// headers may hold credentials.
func asker(t *http.Transport) *http.Client {
	return &http.Client{Transport: t, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		from := via[0]
		if from.Method != http.MethodGet || req.URL.Host != from.URL.Host || req.URL.Scheme != from.URL.Scheme || len(via) == maxRedirects {
			return http.ErrUseLastResponse
		}
		return nil
	}}
}

const maxRedirects = 5
