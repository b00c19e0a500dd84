package remotesim

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Remote is the API. Its methods are safe for use by many goroutines, at any
// time. Make it with [Start].
type Remote struct {
	addr string        // of the first listener, and of every later one
	done chan struct{} // closed by Close: nobody waits at a gate any more
	busy sync.WaitGroup

	mu         sync.Mutex // guards what follows; nobody waits under it
	closed     bool
	stop       func() // ends the server, unless connections are refused
	next       []Behaviour
	otherwise  func(Request) Behaviour
	lookup     func(id string, there bool) int
	ignoreKeys bool
	keys       map[string]*entry
	requests   []Request
	lookups    map[string]int
	effects    map[string]int    // by business id
	underKey   map[string]int    // by key
	answers    map[string][]byte // of the last effect, by business id and by key
}

// Start starts a remote on a free port of this machine. ctx bounds the start
// only; Close ends it.
func Start(ctx context.Context) (*Remote, error) {
	r := &Remote{
		addr: "127.0.0.1:0", done: make(chan struct{}),
		keys: map[string]*entry{}, lookups: map[string]int{},
		effects: map[string]int{}, underKey: map[string]int{}, answers: map[string][]byte{},
	}
	if err := r.Accept(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// URL is the address, such as "http://127.0.0.1:40123", without a path.
func (r *Remote) URL() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return "http://" + r.addr
}

// Refuse refuses connections from now on, and cuts those that are open. What
// waits at a gate is still acted on.
func (r *Remote) Refuse() {
	r.mu.Lock()
	stop := r.stop
	r.stop = nil
	r.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// Accept takes connections again after Refuse, at the same address. It is an
// error if another program has taken the port, or if nothing was refused.
func (r *Remote) Accept(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", r.addr)
	if err != nil {
		return fmt.Errorf("remotesim: %w", err)
	}
	server := &http.Server{Handler: http.HandlerFunc(r.serve), ReadHeaderTimeout: time.Minute}
	served := make(chan struct{})
	go func() { // ended and waited for by stop
		defer close(served)
		_ = server.Serve(listener) // always an error: the server was closed
	}()
	r.addr = listener.Addr().String()
	r.stop = func() {
		_ = server.Close() // of connections that are cut on purpose
		<-served
	}
	return nil
}

// Close ends the remote and everything that waits at a gate, which is not acted
// on. It may be called more than once.
func (r *Remote) Close() {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.done)
	}
	r.mu.Unlock()
	r.Refuse()
	r.busy.Wait()
}

// Next sets how the next requests for an effect behave: one each, in the order
// in which they arrive, behind those that were set before.
func (r *Remote) Next(behaviours ...Behaviour) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = append(r.next, behaviours...)
}

// Otherwise sets how every request behaves that Next says nothing of; nil is
// [Answer]. decide may ask for counts: its request is among them already.
func (r *Remote) Otherwise(decide func(Request) Behaviour) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.otherwise = decide
}

// IgnoreKeys makes the remote act on every request, like one that knows no
// idempotency keys.
func (r *Remote) IgnoreKeys() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ignoreKeys = true
}

// ForgetKeys ends the window of every key that has come so far.
func (r *Remote) ForgetKeys() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.keys)
}

// Lookups sets the status of look-ups: say gets what was asked for and the truth,
// and may lie. nil is 200 for what is there, and 404.
func (r *Remote) Lookups(say func(asked string, there bool) (status int)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lookup = say
}

func (r *Remote) serve(w http.ResponseWriter, req *http.Request) {
	if !r.enter() {
		panic(http.ErrAbortHandler)
	}
	defer r.busy.Done()
	body, err := io.ReadAll(req.Body)
	if err != nil { // half a request has no effect
		panic(http.ErrAbortHandler)
	}
	q := newRequest(req, body)
	if req.Method == http.MethodGet || req.Method == http.MethodHead {
		r.find(req.URL.Query().Get("key"), q.ID).write(w)
		return
	}
	e := &exchange{remote: r, w: w, request: q}
	if b := r.arrived(q); b.run != nil {
		b.run(e)
		return
	}
	Answer().run(e)
}

// enter counts a request, unless the remote is closed.
func (r *Remote) enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.busy.Add(1)
	}
	return !r.closed
}

// arrived records a request and says how it behaves.
func (r *Remote) arrived(q Request) Behaviour {
	r.mu.Lock()
	r.requests = append(r.requests, q)
	if len(r.next) > 0 {
		defer r.mu.Unlock()
		b := r.next[0]
		r.next = r.next[1:]
		return b
	}
	decide := r.otherwise
	r.mu.Unlock()
	if decide == nil {
		return Answer()
	}
	return decide(q)
}

// find answers a look-up by key, or else by id.
func (r *Remote) find(key, id string) reply {
	r.mu.Lock()
	asked, there := id, r.effects[id] > 0
	if key != "" {
		asked, there = key, r.underKey[key] > 0
	}
	r.lookups[asked]++
	answer, say := r.answers[asked], r.lookup
	r.mu.Unlock()
	status := http.StatusNotFound
	if there {
		status = http.StatusOK
	}
	if say != nil {
		status = say(asked, there)
	}
	if status != http.StatusOK {
		return fault(status, "look-up")
	}
	if answer == nil { // a lie
		answer = []byte(`{}`)
	}
	return reply{status: status, body: answer}
}
