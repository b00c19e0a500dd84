package httpcall

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/weirstream/weir/eos/guard"
)

// Keyed makes an effect on a remote that recognises the key, as api says. request
// builds it from the payload; an error leaves it unsent until a program can build
// it. find clarifies what is in doubt when the remote may have forgotten the key.
//
// What is missing is reported by [guard.New].
func Keyed[P any](name string, event guard.Event[P], api API, request func(P) (Request, error), find Lookup[P], opts ...guard.Option) *guard.Effect[P] {
	if !api.keyed() {
		api.KeyHeader = idempotencyKey
	}
	c := newCaller(api)
	contract := guard.Contract{Remote: api.Remote, Window: api.Window, Margin: api.Margin}
	return guard.Keyed(name, event, contract, perform(c, request, kind[P]{}), lookup(c, find), api.Settle, opts...)
}

// Reconciled makes an effect on a remote that knows no key but can be asked, by
// something of the payload or by a reference that [API.KeyField] or
// [API.KeyHeader] carries.
func Reconciled[P any](name string, event guard.Event[P], api API, request func(P) (Request, error), find Lookup[P], opts ...guard.Option) *guard.Effect[P] {
	c := newCaller(api)
	return guard.Reconciled(name, event, perform(c, request, kind[P]{}), lookup(c, find), api.Settle, opts...)
}

// Natural makes an effect that a PUT states as a whole or a DELETE takes away, so
// that a repeat changes nothing (RFC 9110, 9.2.2). Another method is not sent. 404
// and 410 to a DELETE say that it is performed: what shall not be there is not.
func Natural[P any](name string, event guard.Event[P], api API, request func(P) (Request, error), opts ...guard.Option) *guard.Effect[P] {
	return guard.Natural(name, event, perform(newCaller(api), request, kind[P]{
		fault: func(r Request) error {
			if r.Method != http.MethodPut && r.Method != http.MethodDelete {
				return fmt.Errorf("its method is %q: want PUT or DELETE", r.Method)
			}
			return nil
		},
		means: func(_ context.Context, _ guard.Call, _ P, r Request) rule {
			return func(status int, _ http.Header, _ []byte) (guard.Reply, bool) {
				gone := status == http.StatusNotFound || status == http.StatusGone
				return guard.Reply{Verdict: guard.Performed}, gone && r.Method == http.MethodDelete
			}
		},
	}), opts...)
}

// Conditional makes an effect whose remote refuses a stale or repeated write by
// If-Match or If-None-Match, one of which the request must have.
//
// 412 alone does not tell our own earlier write from a foreign one. So reread
// looks within the same attempt: There is for this effect or a newer one, and is
// performed; Absent is for anything else, and is refused; NoAnswer leaves it
// unclear. Without a reread nothing performs the effect, which guard.New reports.
func Conditional[P any](name string, event guard.Event[P], api API, request func(P) (Request, error), reread Lookup[P], opts ...guard.Option) *guard.Effect[P] {
	c := newCaller(api)
	find := lookup(c, reread)
	if find == nil {
		return guard.Conditional(name, event, nil, opts...)
	}
	return guard.Conditional(name, event, perform(c, request, kind[P]{
		fault: func(r Request) error {
			if h := canonical(r.Header); h.Get("If-Match") == "" && h.Get("If-None-Match") == "" {
				return errors.New("it has no condition: want If-Match or If-None-Match")
			}
			return nil
		},
		means: func(ctx context.Context, call guard.Call, p P, _ Request) rule {
			return func(status int, _ http.Header, _ []byte) (guard.Reply, bool) {
				if status != http.StatusPreconditionFailed {
					return guard.Reply{}, false
				}
				return reread412(find(ctx, call, p)), true
			}
		},
	}), opts...)
}

func reread412(a guard.Answer) guard.Reply {
	reply := guard.Reply{Verdict: guard.Unclear, Detail: "412; " + a.Detail}
	switch a.Found {
	case guard.There:
		reply.Verdict, reply.Result = guard.Performed, a.Result
	case guard.Absent:
		reply.Verdict = guard.Refused
	case guard.NoAnswer:
	}
	return reply
}

// AtMostOnce makes an effect that must not repeat and cannot be asked for. In
// doubt it is parked for a person.
func AtMostOnce[P any](name string, event guard.Event[P], api API, request func(P) (Request, error), opts ...guard.Option) *guard.Effect[P] {
	return guard.AtMostOnce(name, event, perform(newCaller(api), request, kind[P]{}), opts...)
}

// AtLeastOnce makes an effect that may be doubled, which waiver accepts: a
// webhook, a chat message.
func AtLeastOnce[P any](name string, event guard.Event[P], api API, waiver guard.Waiver, request func(P) (Request, error), opts ...guard.Option) *guard.Effect[P] {
	return guard.AtLeastOnce(name, event, waiver, perform(newCaller(api), request, kind[P]{}), opts...)
}

// caller performs and asks over one pool of connections.
type caller struct {
	api       API
	transport *http.Transport
	asks      *http.Client
}

func newCaller(api API) *caller {
	t := ownTransport(api.Base)
	return &caller{api: api, transport: t, asks: asker(t)}
}

// kind is what a class adds: what is wrong with a request, and what an answer
// means to it. Both may be nil.
type kind[P any] struct {
	fault func(Request) error
	means func(ctx context.Context, call guard.Call, p P, r Request) rule
}

// perform is the function of an effect; nil without a request, which guard.New
// reports.
func perform[P any](c *caller, request func(P) (Request, error), k kind[P]) guard.Do[P] {
	if request == nil {
		return nil
	}
	return func(ctx context.Context, call guard.Call, p P) guard.Reply {
		r, err := request(p)
		if err == nil {
			err = r.changes()
		}
		if err == nil && k.fault != nil {
			err = k.fault(r)
		}
		if err != nil {
			return unsent(err)
		}
		req, err := c.api.effect(ctx, call, r)
		if err != nil {
			return unsent(err)
		}
		rules := []rule{c.api.Means}
		if k.means != nil {
			rules = append(rules, k.means(ctx, call, p, r))
		}
		reply := c.api.judge(send(c.transport, req), time.Now(), rules...)
		reply.Detail = line(req, reply.Detail)
		return reply
	}
}

// unsent: there is no request. Credentials that are missing are missing for all.
func unsent(err error) guard.Reply {
	var u unauthorised
	return guard.Reply{Verdict: guard.Unsent, Pause: errors.As(err, &u), Detail: oneLine("not sent: " + err.Error())}
}
