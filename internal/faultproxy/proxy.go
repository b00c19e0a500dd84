package faultproxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Link shapes the connections to a broker. The zero value adds nothing.
type Link struct {
	Latency        time.Duration // each way; frames on their way do not hold up one another
	BytesPerSecond int64         // for each connection and direction; 0: not limited
}

// Proxy stands before a set of brokers. Its methods may be called from any
// goroutine, also from a rule's Call.
type Proxy struct {
	addrs     map[string]string // broker -> listener; immutable
	listeners []net.Listener    // immutable
	rules     atomic.Pointer[[]*Handle]
	links     atomic.Pointer[map[string]Link] // by broker; "" for those not named
	done      chan struct{}                   // closed by Close
	wg        sync.WaitGroup

	mu struct {
		sync.Mutex
		closed   bool
		sessions map[*session]struct{}
		blocked  map[string]struct{} // client.id
	}
}

// New listens on a local port for each broker (host:port). After nil the caller
// must call Close.
func New(ctx context.Context, brokers []string) (*Proxy, error) {
	p := &Proxy{addrs: make(map[string]string), done: make(chan struct{})}
	p.rules.Store(new([]*Handle))
	p.links.Store(new(map[string]Link))
	p.mu.sessions = make(map[*session]struct{})
	p.mu.blocked = make(map[string]struct{})
	var config net.ListenConfig
	for _, broker := range brokers {
		l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			p.Close()
			return nil, fmt.Errorf("faultproxy: listener for %s: %w", broker, err)
		}
		p.addrs[broker] = l.Addr().String()
		p.listeners = append(p.listeners, l)
		p.wg.Go(func() { p.accept(l, broker) })
	}
	return p, nil
}

// Addrs returns broker -> listener, for Dialer.
func (p *Proxy) Addrs() map[string]string { return p.addrs }

// Env returns Addrs as one string, for ParseEnv in a child process.
func (p *Proxy) Env() string { return Env(p.addrs) }

// Dial is Dialer for this proxy's own map.
func (p *Proxy) Dial(ctx context.Context, network, host string) (net.Conn, error) {
	return Dialer(p.addrs)(ctx, network, host)
}

// Add puts a rule in force for frames that arrive from now on.
func (p *Proxy) Add(r Rule) *Handle {
	h := &Handle{rule: r, proxy: p, gate: make(chan struct{})}
	h.mu.changed = make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	rules := append(slices.Clone(*p.rules.Load()), h)
	p.rules.Store(&rules)
	return h
}

func (p *Proxy) remove(h *Handle) {
	p.mu.Lock()
	defer p.mu.Unlock()
	rules := slices.DeleteFunc(slices.Clone(*p.rules.Load()), func(o *Handle) bool { return o == h })
	p.rules.Store(&rules)
}

// SetLink shapes the connections to a broker, those that exist included; "" is
// every broker that has no link of its own.
func (p *Proxy) SetLink(broker string, l Link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	links := make(map[string]Link)
	for b, old := range *p.links.Load() {
		links[b] = old
	}
	links[broker] = l
	p.links.Store(&links)
}

func (p *Proxy) link(broker string) Link {
	links := *p.links.Load()
	if l, ok := links[broker]; ok {
		return l
	}
	return links[""]
}

// Block cuts every connection of a client and refuses new ones (at their first
// request, which is the first to say who asks) until Unblock. What the client
// had already sent still arrives.
func (p *Proxy) Block(client string) {
	p.mu.Lock()
	p.mu.blocked[client] = struct{}{}
	var hit []*session
	for s := range p.mu.sessions {
		if id := s.clientID.Load(); id != nil && *id == client {
			hit = append(hit, s)
		}
	}
	p.mu.Unlock()
	for _, s := range hit {
		s.cutClient()
	}
}

// Unblock lets a client connect again.
func (p *Proxy) Unblock(client string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.mu.blocked, client)
}

// admit notes whose session this is and says whether it may go on.
func (p *Proxy) admit(s *session, client string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.clientID.Store(&client)
	_, blocked := p.mu.blocked[client]
	return !blocked
}

// Close cuts everything, held frames included, and returns when no goroutine of
// the proxy is left. It must not be called from a rule's Call.
func (p *Proxy) Close() {
	p.mu.Lock()
	if p.mu.closed {
		p.mu.Unlock()
		return
	}
	p.mu.closed = true
	close(p.done)
	var all []*session
	for s := range p.mu.sessions {
		all = append(all, s)
	}
	p.mu.Unlock()
	for _, l := range p.listeners {
		_ = l.Close()
	}
	for _, s := range all {
		s.cutClient()
		s.cutBroker()
	}
	p.wg.Wait()
}

// accept serves one listener until Close; each connection has a goroutine that
// ends with it.
func (p *Proxy) accept(l net.Listener, broker string) {
	for {
		client, err := l.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			continue
		}
		p.wg.Go(func() { p.serve(client, broker) })
	}
}

func (p *Proxy) serve(client net.Conn, broker string) {
	const dialTimeout = 10 * time.Second
	server, err := net.DialTimeout("tcp", broker, dialTimeout) //nolint:noctx // bounded by its own timeout
	if err != nil {
		_ = client.Close() // the broker is down, so the client finds it down
		return
	}
	s := newSession(p, broker, client, server)
	p.mu.Lock()
	closed := p.mu.closed
	if !closed {
		p.mu.sessions[s] = struct{}{}
	}
	p.mu.Unlock()
	if closed {
		s.cutClient()
		s.cutBroker()
		return
	}
	s.run()
	p.mu.Lock()
	delete(p.mu.sessions, s)
	p.mu.Unlock()
}
