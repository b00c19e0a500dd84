package httpcall

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/weirstream/weir/eos/guard"
)

// Request is what a remote is asked. It must follow from the payload alone: every
// attempt sends the same.
type Request struct {
	// Method is POST, PUT, PATCH or DELETE for an effect: a safe one may be repeated
	// by anybody on the way. Of a look-up it may be left out: GET.
	Method string
	// URL is absolute. Operators are shown host and path, never the query.
	URL string
	// Header must not hold the key, which the package adds.
	Header http.Header
	// Body is sent as it is, but for [API.KeyField].
	Body []byte
}

// changes says what is wrong with r as a request for an effect.
func (r Request) changes() error {
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return nil
	}
	return fmt.Errorf("its method is %q: want POST, PUT, PATCH or DELETE", r.Method)
}

// effect is r with the key, ready to be sent once.
func (a API) effect(ctx context.Context, call guard.Call, r Request) (*http.Request, error) {
	key := a.key(call.Sum)
	r.Header = canonical(r.Header)
	if a.KeyHeader != "" {
		if r.Header.Get(a.KeyHeader) != "" {
			return nil, fmt.Errorf("its header already holds %s", a.KeyHeader)
		}
		r.Header.Set(a.KeyHeader, key)
	}
	if a.KeyField != "" {
		var err error
		if r.Body, err = withMember(r.Body, a.KeyField, key); err != nil {
			return nil, err
		}
	}
	return a.ready(ctx, r)
}

// ready is r, authorised and sent once. The URL is in no error: its query may
// hold secrets.
func (a API) ready(ctx context.Context, r Request) (*http.Request, error) {
	u, err := url.Parse(r.URL)
	switch {
	case err != nil || u.Host == "":
		return nil, errors.New("its URL is not an absolute one")
	case u.User != nil:
		return nil, errors.New("its URL holds credentials: add them in Authorize")
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return nil, fmt.Errorf("its method %q is none", r.Method)
	}
	req.Header = canonical(r.Header)
	if a.Authorize != nil {
		if err := a.Authorize(req); err != nil {
			return nil, unauthorised{fmt.Errorf("authorize: %w", err)}
		}
	}
	return sentOnce(req, r.Body), nil
}

// unauthorised: there are no credentials.
type unauthorised struct{ error }

// canonical copies a header under the names that net/http looks for.
func canonical(h http.Header) http.Header {
	c := make(http.Header, len(h)+1)
	for name, values := range h {
		for _, v := range values {
			c.Add(name, v)
		}
	}
	return c
}

// sentOnce keeps net/http from sending req again by itself, which it does when a
// used connection ends without an answer, even if the request has been acted on:
// it takes POST for idempotent when there is an Idempotency-Key (golang/go#19943).
//
// It cannot repeat a body that it cannot get again. Without a body it goes by
// the name of the header, which it knows in the canonical form only; to every
// server, upper and lower case are one (RFC 9110, 5.1).
func sentOnce(req *http.Request, body []byte) *http.Request {
	req.GetBody = nil
	if len(body) > 0 {
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		return req
	}
	req.Body, req.ContentLength = http.NoBody, 0
	for _, name := range []string{idempotencyKey, "X-Idempotency-Key"} {
		if values, ok := req.Header[name]; ok {
			delete(req.Header, name)
			req.Header[strings.ToLower(name)] = values
		}
	}
	return req
}

// withMember puts a member in front of a JSON object and leaves the rest as it
// is.
func withMember(body []byte, name, value string) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil || members == nil {
		return nil, fmt.Errorf("its body is not a JSON object, in which the key could travel as %q", name)
	}
	if _, ok := members[name]; ok {
		return nil, fmt.Errorf("its body already holds %q", name)
	}
	member, err := json.Marshal(map[string]string{name: value})
	if err != nil {
		return nil, err
	}
	rest := bytes.TrimLeft(body, " \t\r\n")[1:]
	if len(members) == 0 {
		return append(member[:len(member)-1], rest...), nil
	}
	member[len(member)-1] = ','
	return append(member, rest...), nil
}
