package httpcall

import (
	"context"
	"net/http"

	"github.com/weirstream/weir/eos/guard"
)

// Lookup is how a remote is asked whether it has an effect. It must change
// nothing. Both functions are required.
type Lookup[P any] struct {
	// Ask builds the question: by something of the payload, or by the key, which
	// [API.KeyForm] wrote from call.Sum. An error is no answer.
	Ask func(call guard.Call, p P) (Request, error)
	// Read says what an answer means. It is called for 2xx and for those 4xx that
	// say something of the effect: a remote that is down, busy or wants other
	// credentials has not answered. Absent is for an answer that proves it.
	Read func(status int, header http.Header, body []byte) guard.Answer
}

// Exists reads the answer to a GET of the effect itself: 200 is there, with the
// body as its result, and 404 absent. Anything else says nothing.
func Exists(status int, _ http.Header, body []byte) guard.Answer {
	switch status {
	case http.StatusOK:
		return guard.Answer{Found: guard.There, Result: body}
	case http.StatusNotFound:
		return guard.Answer{Found: guard.Absent}
	}
	return guard.Answer{Found: guard.NoAnswer}
}

// lookup is l over c; nil if something is missing, which guard.New reports.
func lookup[P any](c *caller, l Lookup[P]) guard.Lookup[P] {
	if l.Ask == nil || l.Read == nil {
		return nil
	}
	return func(ctx context.Context, call guard.Call, p P) guard.Answer {
		r, err := l.Ask(call, p)
		if err != nil {
			return guard.Answer{Detail: oneLine("not asked: " + err.Error())}
		}
		if r.Method == "" {
			r.Method = http.MethodGet
		}
		req, err := c.api.ready(ctx, r)
		if err != nil {
			return guard.Answer{Detail: oneLine("not asked: " + err.Error())}
		}
		answer, text := c.ask(req, l.Read)
		if answer.Detail == "" {
			answer.Detail = line(req, text)
		}
		return answer
	}
}

// ask gives the answer and what the detail says of it.
func (c *caller) ask(req *http.Request, say func(int, http.Header, []byte) guard.Answer) (answer guard.Answer, text string) {
	resp, err := c.asks.Do(req)
	if err != nil {
		return answer, "no answer: " + cause(err)
	}
	o := read(resp)
	switch {
	case o.err != nil:
		return answer, "no answer: " + cause(o.err)
	case o.long:
		return answer, c.api.detail(o) // half a list proves nothing
	case !answers(o.status):
		return answer, c.api.detail(o)
	}
	return say(o.status, o.header, o.body), c.api.detail(o)
}

// answers says whether a status says anything of what was asked for.
func answers(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusRequestTimeout,
		http.StatusMisdirectedRequest, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return status/100 == 2 || status/100 == 4
}
