package remotesim

import "sync"

// Gate holds up requests until a test opens it. Make it with [NewGate]; it may be
// given to several requests.
type Gate struct{ reached, open, passed event }

// NewGate returns a closed gate.
func NewGate() *Gate {
	return &Gate{reached: newEvent(), open: newEvent(), passed: newEvent()}
}

// Open lets everything through that waits and that comes later. It may be called
// more than once.
func (g *Gate) Open() { g.open.happen() }

// Reached is closed when the first request waits at the gate.
func (g *Gate) Reached() <-chan struct{} { return g.reached.c }

// Passed is closed when the first request has done what it had to do behind the
// gate.
func (g *Gate) Passed() <-chan struct{} { return g.passed.c }

// hold calls then when the gate opens, unless the remote is closed before.
func (g *Gate) hold(e *exchange, then func()) {
	g.reached.happen()
	select {
	case <-g.open.c:
		then()
		g.passed.happen()
	case <-e.remote.done:
	}
}

// event happens once.
type event struct {
	c    chan struct{}
	once *sync.Once
}

func newEvent() event { return event{c: make(chan struct{}), once: new(sync.Once)} }

func (e event) happen() { e.once.Do(func() { close(e.c) }) }
