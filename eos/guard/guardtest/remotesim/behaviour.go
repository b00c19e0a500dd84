package remotesim

import (
	"net/http"
	"strconv"
)

// Behaviour is what becomes of one request for an effect. The zero value is
// [Answer].
type Behaviour struct{ run func(*exchange) }

// Answer performs the effect, or recognises the key, and answers.
func Answer() Behaviour {
	return Behaviour{func(e *exchange) { e.act().write(e.w) }}
}

// ActThenDrop acts as Answer does, and cuts the connection instead of answering.
func ActThenDrop() Behaviour {
	return Behaviour{func(e *exchange) {
		e.act()
		e.cut()
	}}
}

// DropThenAct cuts the connection, and acts when the gate opens. Its key is taken
// from the beginning.
func DropThenAct(gate *Gate) Behaviour {
	return Behaviour{func(e *exchange) {
		e.reserve()
		e.cut()
		gate.hold(e, func() { e.act() })
	}}
}

// Slow acts and answers when the gate opens, also if the client has gone by then.
// Its key is taken from the beginning.
func Slow(gate *Gate) Behaviour {
	return Behaviour{func(e *exchange) {
		e.reserve()
		gate.hold(e, func() { e.act().write(e.w) })
	}}
}

// ActThenSlow acts, and answers when the gate opens.
func ActThenSlow(gate *Gate) Behaviour {
	return Behaviour{func(e *exchange) {
		answer := e.act()
		gate.hold(e, func() { answer.write(e.w) })
	}}
}

// SlowBody acts and sends the header of its answer and half of the body; the rest
// follows when the gate opens.
func SlowBody(gate *Gate) Behaviour {
	return Behaviour{func(e *exchange) {
		answer := e.act()
		half := len(answer.body) / 2
		first := answer
		first.body = answer.body[:half]
		e.w.Header().Set("Content-Length", strconv.Itoa(len(answer.body)))
		first.write(e.w)
		_ = http.NewResponseController(e.w).Flush() // the client may have gone
		gate.hold(e, func() { _, _ = e.w.Write(answer.body[half:]) })
	}}
}

// SavedFailure answers with a status and saves it under the key: every repeat is
// answered with it, and it is not performed any more. acted says whether the
// effect was performed on the way.
func SavedFailure(status int, acted bool) Behaviour {
	return Behaviour{func(e *exchange) {
		e.once(func() reply {
			if acted {
				e.perform()
			}
			return fault(status, "api_error")
		}).write(e.w)
	}}
}

// Busy answers 409 without acting, as if an earlier request were under way.
// retryAfter is the header Retry-After; "" leaves it out.
func Busy(retryAfter string) Behaviour { return Reject(http.StatusConflict, retryAfter) }

// Limit answers 429 without acting.
func Limit(retryAfter string) Behaviour { return Reject(http.StatusTooManyRequests, retryAfter) }

// Reject answers with a status, without acting or saving anything.
func Reject(status int, retryAfter string) Behaviour {
	return Behaviour{func(e *exchange) {
		if retryAfter != "" {
			e.w.Header().Set("Retry-After", retryAfter)
		}
		fault(status, "refused").write(e.w)
	}}
}

// Say answers with a status and a body, without acting or saving anything.
func Say(status int, body string) Behaviour {
	return Behaviour{func(e *exchange) { reply{status: status, body: []byte(body)}.write(e.w) }}
}

// exchange is one request for an effect under way.
type exchange struct {
	remote  *Remote
	w       http.ResponseWriter
	request Request
}

// cut closes the connection without an answer.
func (e *exchange) cut() {
	if conn, _, err := http.NewResponseController(e.w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

// reply is an answer.
type reply struct {
	status   int
	body     []byte
	replayed bool
}

func (p reply) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	if p.replayed {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	w.WriteHeader(p.status)
	_, _ = w.Write(p.body) // the client may have gone
}

// fault has the form of Stripe's errors.
func fault(status int, kind string) reply {
	return reply{status: status, body: []byte(`{"error":{"type":"` + kind + `"}}`)}
}
