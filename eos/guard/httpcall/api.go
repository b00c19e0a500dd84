package httpcall

import (
	"bytes"
	"net/http"
	"time"

	"github.com/weirstream/weir/eos/guard"
)

// API is what is known of a remote: how an idempotency key travels to it, what it
// promises, and what its answers mean. The zero value is a remote that knows no
// key and answers as HTTP says; every field may be left out, but [Keyed] needs
// Remote and Window, and every class with a look-up needs Settle.
//
// It is copied by the constructors, each of which opens a pool of connections of
// its own. Its functions must be safe for use by many goroutines.
type API struct {
	// Remote names it in the guarantee table.
	Remote string
	// KeyHeader is the header that carries the key: "Idempotency-Key",
	// "PayPal-Request-Id". Default: none; "Idempotency-Key" with [Keyed] if there
	// is no KeyField either.
	KeyHeader string
	// KeyField is the member of the body that carries the key, such as
	// "idempotency_key"; the body must be a JSON object then. Without an
	// idempotency key it may be the reference by which a remote is asked. Default:
	// none.
	KeyField string
	// KeyForm writes the key. Default: [guard.Sum.String], 64 characters. Others are
	// [guard.Sum.UUID], 36 characters, and [Quoted].
	KeyForm func(guard.Sum) string
	// Window is how long the remote knows a key, at least, and Margin what is taken
	// off it; see [guard.Contract]. Margin's default is 1 minute.
	Window, Margin time.Duration
	// Settle is how long an effect must stay absent, to count as not performed:
	// longer than the remote may take to act on a request that it was sent.
	Settle time.Duration
	// Means says what an answer means, where it is not what the package says; ok
	// is false elsewhere. Of a Reply without them, Result is the body, Wait what
	// Retry-After says, and Detail method, host, path and status. body holds the
	// first 64 KiB. Default: nothing is different.
	Means func(status int, header http.Header, body []byte) (reply guard.Reply, ok bool)
	// Replayed is the header that says "true" on an answer that was saved for an
	// earlier request: "Idempotent-Replayed", "Request-Idempotency". It is shown to
	// operators. Default: none.
	Replayed string
	// Authorize adds credentials to the header or the query of every request and
	// look-up, and changes nothing else. It gets the request's body, and the attempt
	// as its context. With an error nothing is sent and the sink waits; its text is
	// shown to operators. Default: nothing is added.
	Authorize func(*http.Request) error
	// Base gives the transport's TLS configuration, proxy, dialer, limits and time-outs.
	// It is cloned, and spoken over HTTP/1.1 only. Default: the proxy of the
	// environment, 64 idle connections per host, for 90 s.
	Base *http.Transport
}

// StripeLike is a remote with the contract of Stripe's v1: the bare key in the
// header Idempotency-Key, kept for 24 hours; the first answer is saved, a 500 too,
// and repeated with Idempotent-Replayed; other parameters under a key are refused
// as idempotency_error. Settle is 2 minutes, which is above the 80 s for which
// Stripe's own clients wait.
//
// Source: docs.stripe.com/api/idempotent_requests, docs.stripe.com/api/errors.
func StripeLike(remote string) API {
	return API{
		Remote: remote, KeyHeader: idempotencyKey, Window: 24 * time.Hour, Settle: settle,
		Replayed: "Idempotent-Replayed",
		Means: func(status int, _ http.Header, body []byte) (guard.Reply, bool) {
			other := status == http.StatusBadRequest && bytes.Contains(body, []byte(`"idempotency_error"`))
			return guard.Reply{Verdict: guard.Mismatched}, other
		},
	}
}

// Draft is a remote that keeps to the IETF draft on the Idempotency-Key header:
// the key is a quoted string, 422 says that it came with another payload, 409 that
// its first request is under way, 400 that it is missing. window is what the
// remote publishes; the draft says nothing. Settle is 2 minutes.
//
// Source: draft-ietf-httpapi-idempotency-key-header-07.
func Draft(remote string, window time.Duration) API {
	return API{
		Remote: remote, KeyHeader: idempotencyKey, KeyForm: Quoted, Window: window, Settle: settle,
		Means: func(status int, _ http.Header, _ []byte) (guard.Reply, bool) {
			return guard.Reply{Verdict: guard.Mismatched}, status == http.StatusUnprocessableEntity
		},
	}
}

const (
	idempotencyKey = "Idempotency-Key"
	settle         = 2 * time.Minute
)

// Quoted writes a key as a string of structured fields (RFC 9651): its 64
// hexadecimal digits in quotes.
func Quoted(s guard.Sum) string { return `"` + s.String() + `"` }

// key is the key as it is written.
func (a API) key(s guard.Sum) string {
	if a.KeyForm == nil {
		return s.String()
	}
	return a.KeyForm(s)
}

// keyed says whether a key travels.
func (a API) keyed() bool { return a.KeyHeader != "" || a.KeyField != "" }
