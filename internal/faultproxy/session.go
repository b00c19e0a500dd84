package faultproxy

import (
	"bufio"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// drainTimeout bounds how long a broker may take to answer what a client that
// has left had sent.
const drainTimeout = 10 * time.Second

// session is one client connection and its broker connection. Four goroutines
// move the frames, two in each direction, joined by a channel; they end when
// both connections are closed and nothing is under way. run waits for them.
//
//	client -> readRequests -> requests -> writeRequests -> broker
//	client <- writeReplies <- replies  <- readReplies   <- broker
type session struct {
	proxy    *Proxy
	broker   string
	client   net.Conn
	server   net.Conn
	requests chan frame             // capacity inTransit; closed by readRequests
	replies  chan frame             // capacity inTransit; closed by readReplies
	clientID atomic.Pointer[string] // nil before the first request

	mu struct {
		sync.Mutex
		pending  []*Exchange // forwarded and not answered, oldest first
		draining bool        // nothing will be forwarded any more
	}
}

func newSession(p *Proxy, broker string, client, server net.Conn) *session {
	return &session{
		proxy: p, broker: broker, client: client, server: server,
		requests: make(chan frame, inTransit), replies: make(chan frame, inTransit),
	}
}

func (s *session) cutClient() { _ = s.client.Close() }
func (s *session) cutBroker() { _ = s.server.Close() }

func (s *session) run() {
	var wg sync.WaitGroup
	wg.Go(s.readRequests)
	wg.Go(s.writeRequests)
	wg.Go(s.readReplies)
	wg.Go(s.writeReplies)
	wg.Wait()
}

// readRequests takes what the client sends and asks the rules.
func (s *session) readRequests() {
	defer close(s.requests)
	in := bufio.NewReaderSize(s.client, 1<<16)
	var c clock
	silent := false
	for {
		raw, err := readFrame(in)
		if err != nil {
			return
		}
		ex, err := parseRequest(s.broker, raw)
		if err != nil || (s.clientID.Load() == nil && !s.proxy.admit(s, ex.Client)) {
			s.cutClient()
			return
		}
		if silent {
			continue
		}
		what := s.proxy.judge(RequestReceived, ex)
		switch what.verdict {
		case Pass, Hold:
		case Drop:
			silent = true
			continue
		case Cut:
			s.cutClient()
			return
		}
		if !s.send(s.requests, frame{bytes: raw, ex: ex, gate: what.hold(), due: c.due(s.proxy.link(s.broker), len(raw), what.delay)}) {
			return
		}
	}
}

// hold is the gate of a held frame, nil for any other.
func (e effect) hold() <-chan struct{} {
	if e.verdict == Hold {
		return e.gate
	}
	return nil
}

func (s *session) send(to chan<- frame, f frame) bool {
	select {
	case to <- f:
		return true
	case <-s.proxy.done:
		return false
	}
}

// writeRequests forwards, also after the client has left, and closes the
// broker's side when all is answered.
func (s *session) writeRequests() {
	defer s.drain()
	out := bufio.NewWriterSize(s.server, 1<<16)
	for f := range s.requests {
		if !s.proxy.arrive(f) {
			continue // closing: empty the channel
		}
		if err := s.forward(out, f.ex, f.bytes); err != nil {
			s.cutClient() // the writer keeps its error: the rest is discarded
		}
	}
}

// forward writes one request. While there are rules each request goes out by
// itself, so that RequestForwarded is true when they are asked.
func (s *session) forward(out *bufio.Writer, ex *Exchange, raw []byte) error {
	defer close(ex.forwarded)
	if ex.answered() {
		s.push(ex)
	}
	if _, err := out.Write(raw); err != nil {
		return err
	}
	watched := len(*s.proxy.rules.Load()) > 0
	if !watched && len(s.requests) > 0 {
		return nil
	}
	if err := out.Flush(); err != nil {
		return err
	}
	ex.late = s.proxy.judge(RequestForwarded, ex)
	if ex.late.verdict == Cut {
		s.cutClient()
	}
	return nil
}

func (s *session) push(ex *Exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.pending = append(s.mu.pending, ex)
}

// pop finds the request of a reply; nil if there is none. When it was the last
// one of a client that has left, the broker's side is closed.
func (s *session) pop(correlationID int32) *Exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.mu.pending, func(e *Exchange) bool { return e.CorrelationID == correlationID })
	if i < 0 {
		return nil
	}
	ex := s.mu.pending[i]
	s.mu.pending = slices.Delete(s.mu.pending, i, i+1)
	if s.mu.draining && len(s.mu.pending) == 0 {
		s.cutBroker()
	}
	return ex
}

// drain lets the broker answer what it was sent. Closing earlier could make it
// discard a request that it has not read yet.
func (s *session) drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.draining = true
	if len(s.mu.pending) == 0 {
		s.cutBroker()
		return
	}
	_ = s.server.SetReadDeadline(time.Now().Add(drainTimeout))
}

// readReplies takes what the broker sends and asks the rules.
func (s *session) readReplies() {
	defer close(s.replies)
	defer s.cutBroker()
	in := bufio.NewReaderSize(s.server, 1<<16)
	var c clock
	silent := false
	for {
		raw, err := readFrame(in)
		if err != nil {
			return
		}
		ex := s.pop(correlation(raw))
		if ex == nil {
			return // not an answer to anything: the connection is of no use
		}
		what := ex.setReply(raw).plus(s.proxy.judge(ReplyReceived, ex))
		switch what.verdict {
		case Pass, Hold:
		case Drop:
			silent = true
		case Cut:
			s.cutClient()
			silent = true
		}
		if silent {
			continue
		}
		if !s.send(s.replies, frame{bytes: raw, ex: ex, gate: what.hold(), due: c.due(s.proxy.link(s.broker), len(raw), what.delay)}) {
			return
		}
	}
}

// writeReplies delivers. When the broker has closed and all is delivered, the
// client's side is closed too.
func (s *session) writeReplies() {
	defer s.cutClient()
	out := bufio.NewWriterSize(s.client, 1<<16)
	for f := range s.replies {
		if !s.proxy.arrive(f) {
			continue
		}
		_, err := out.Write(f.bytes)
		if len(s.replies) == 0 && err == nil {
			err = out.Flush()
		}
		if err != nil {
			s.cutClient() // the writer keeps its error: the rest is discarded
		}
	}
}
