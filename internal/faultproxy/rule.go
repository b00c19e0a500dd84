package faultproxy

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Point is a moment in the life of a request.
type Point int

const (
	// RequestReceived: the proxy has the request, the broker does not.
	RequestReceived Point = iota
	// RequestForwarded: the request was written to the broker just now; the
	// broker may or may not have begun with it. The action applies to the reply.
	RequestForwarded
	// ReplyReceived: the broker has answered, the client does not know.
	ReplyReceived
)

// Verdict is what becomes of a frame.
type Verdict int

const (
	// Pass lets it through.
	Pass Verdict = iota
	// Drop swallows it and all that follows it in its direction on this
	// connection, which stays open: the other side hears silence.
	Drop
	// Cut swallows it and closes the client's side of the connection.
	Cut
	// Hold keeps it, and all behind it, until Handle.Release.
	Hold
)

// Rule chooses frames and says what happens to them. Zero fields match
// everything. At RequestForwarded and ReplyReceived it is the request that is
// matched.
type Rule struct {
	At     Point
	Broker string               // the real broker's host:port
	Client string               // client.id
	Keys   []kmsg.Key           // api keys
	Match  func(*Exchange) bool // further condition; called from many goroutines, must not block
	Nth    int                  // act only on the nth frame that matches, from 1; 0: on every one

	Call    func(*Exchange) // runs before the verdict takes effect; the connection's direction waits for it
	Delay   time.Duration   // lets the frame and all behind it wait
	Verdict Verdict
}

// Handle is a rule in force.
type Handle struct {
	rule  Rule
	proxy *Proxy
	gate  chan struct{} // closed by Release

	mu struct {
		sync.Mutex
		seen    int           // frames that matched
		hits    int           // frames acted on
		changed chan struct{} // closed and replaced at each hit
		open    bool          // gate is closed
	}
}

// Hits returns how often the rule has acted. A hit counts once its Call has
// returned and before its verdict takes effect.
func (h *Handle) Hits() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.mu.hits
}

// Wait returns nil when the rule has acted n times, or an error when ctx ends
// first.
func (h *Handle) Wait(ctx context.Context, n int) error {
	for {
		h.mu.Lock()
		hits, changed := h.mu.hits, h.mu.changed
		h.mu.Unlock()
		if hits >= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("faultproxy: rule on %v acted %d times, %d awaited: %w", h.rule.Keys, hits, n, ctx.Err())
		}
	}
}

// Remove takes the rule out of force. Frames that it holds stay held.
func (h *Handle) Remove() { h.proxy.remove(h) }

// Release takes the rule out of force and lets go the frames that it holds,
// also those whose client has left.
func (h *Handle) Release() {
	h.Remove()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.mu.open {
		h.mu.open = true
		close(h.gate)
	}
}

// takes decides whether the rule acts on e at p, and counts matches.
func (h *Handle) takes(p Point, e *Exchange) bool {
	r := &h.rule
	if r.At != p || (r.Broker != "" && r.Broker != e.Broker) || (r.Client != "" && r.Client != e.Client) {
		return false
	}
	if len(r.Keys) > 0 && !slices.Contains(r.Keys, kmsg.Key(e.Key)) {
		return false
	}
	if r.Match != nil && !r.Match(e) {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.seen++
	return r.Nth == 0 || r.Nth == h.mu.seen
}

func (h *Handle) hit() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.hits++
	close(h.mu.changed)
	h.mu.changed = make(chan struct{})
}

// effect is what all rules together want for one frame.
type effect struct {
	verdict Verdict
	gate    <-chan struct{} // for Hold
	delay   time.Duration
}

// plus adds f; the verdict that came first stands.
func (e effect) plus(f effect) effect {
	if e.verdict == Pass {
		e.verdict, e.gate = f.verdict, f.gate
	}
	e.delay += f.delay
	return e
}

// judge asks the rules in the order in which they were added. Every one that
// matches is called and counted.
func (p *Proxy) judge(at Point, e *Exchange) effect {
	var sum effect
	for _, h := range *p.rules.Load() {
		if !h.takes(at, e) {
			continue
		}
		if h.rule.Call != nil {
			h.rule.Call(e)
		}
		sum = sum.plus(effect{verdict: h.rule.Verdict, gate: h.gate, delay: h.rule.Delay})
		h.hit()
	}
	return sum
}
