package remotesim

import (
	"fmt"
	"net/http"
)

// entry is what the remote knows of a key.
type entry struct {
	by      *exchange // the first request
	content string
	answer  *reply // nil: the first request is under way
}

// act performs the effect, unless the key is known.
func (e *exchange) act() reply { return e.once(e.perform) }

// perform counts an effect. The remote is locked.
func (e *exchange) perform() reply {
	r, q := e.remote, e.request
	r.effects[q.ID]++
	r.underKey[q.Key]++
	body := fmt.Appendf(nil, `{"id":%q,"effect":%d}`, q.ID, r.effects[q.ID])
	r.answers[q.ID], r.answers[q.Key] = body, body
	return reply{status: http.StatusOK, body: body}
}

// reserve takes the key for a request that acts later.
func (e *exchange) reserve() {
	r := e.remote
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.keyed() && r.keys[e.request.Key] == nil {
		r.keys[e.request.Key] = &entry{by: e, content: e.content()}
	}
}

// once answers for the key if it is known, and else calls first, under the
// remote's lock, and keeps its answer.
func (e *exchange) once(first func() reply) reply {
	r, key := e.remote, e.request.Key
	r.mu.Lock()
	defer r.mu.Unlock()
	if !e.keyed() {
		return first()
	}
	known := r.keys[key]
	switch {
	case known == nil:
		known = &entry{by: e, content: e.content()}
		r.keys[key] = known
	case known.content != e.content():
		return fault(http.StatusUnprocessableEntity, "idempotency_error")
	case known.answer != nil:
		again := *known.answer
		again.replayed = true
		return again
	case known.by != e:
		return fault(http.StatusConflict, "idempotency_key_in_use")
	}
	answer := first()
	known.answer = &answer
	return answer
}

// keyed says whether the key counts. The remote is locked.
func (e *exchange) keyed() bool { return !e.remote.ignoreKeys && e.request.Key != "" }

func (e *exchange) content() string {
	return e.request.Method + " " + e.request.Path + "\n" + string(e.request.Body)
}
