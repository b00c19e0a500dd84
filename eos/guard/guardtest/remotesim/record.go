package remotesim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
)

// Request is one request for an effect, as it arrived.
type Request struct {
	Method, Path string
	// ID is the business id, Key the idempotency key as it was sent: a quoted one
	// keeps its quotes. Either may be empty.
	ID, Key string
	Header  http.Header
	Body    []byte
}

func newRequest(req *http.Request, body []byte) Request {
	q := Request{Method: req.Method, Path: req.URL.Path, Header: req.Header.Clone(), Body: body}
	of := members(body)
	for _, id := range []string{of["id"], req.URL.Query().Get("id"), path.Base(q.Path)} {
		if q.ID == "" {
			q.ID = id
		}
	}
	if q.Key = req.Header.Get("Idempotency-Key"); q.Key == "" {
		q.Key = of["idempotency_key"]
	}
	return q
}

// members are the strings and numbers of a JSON object or a form.
func members(body []byte) map[string]string {
	found := map[string]string{}
	var object map[string]any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if d.Decode(&object) == nil {
		for name, value := range object {
			found[name] = fmt.Sprint(value)
		}
		return found
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return found
	}
	for name := range form {
		found[name] = form.Get(name)
	}
	return found
}

// Effects is how often the effect of a business id was performed.
func (r *Remote) Effects(id string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.effects[id]
}

// EffectsUnder is how often an effect was performed under a key.
func (r *Remote) EffectsUnder(key string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.underKey[key]
}

// Posts is how many requests for the effect of a business id arrived whole,
// whatever became of them.
func (r *Remote) Posts(id string) int { return len(r.of(id)) }

// Keys are the different keys under which the effect of a business id was
// asked for, in the order of their first arrival.
func (r *Remote) Keys(id string) []string {
	var keys []string
	for _, q := range r.of(id) {
		if !slices.Contains(keys, q.Key) {
			keys = append(keys, q.Key)
		}
	}
	return keys
}

// Asked is how often a business id or a key was looked up.
func (r *Remote) Asked(idOrKey string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lookups[idOrKey]
}

// Requests are all requests for an effect, in the order of their arrival.
func (r *Remote) Requests() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests)
}

func (r *Remote) of(id string) []Request {
	return slices.DeleteFunc(r.Requests(), func(q Request) bool { return q.ID != id })
}
