package eos_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/internal/kafkatest"
)

// patience bounds every wait for something that is to happen.
const patience = 40 * time.Second

// running is an engine under way.
type running struct {
	t      *testing.T
	engine *eos.Engine
	cancel context.CancelFunc
	done   chan error
	log    *logged
}

// begin starts an engine that the test stops, or that ends by itself; its end
// is awaited in any case.
func begin(t *testing.T, cfg eos.Config, fn eos.Handler) *running {
	t.Helper()
	log := &logged{}
	cfg.Logger = slog.New(slog.NewTextHandler(log, nil))
	e, err := eos.New(cfg)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{t: t, engine: e, cancel: cancel, done: make(chan error, 1), log: log}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.done <- e.Run(ctx, fn)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		if t.Failed() {
			t.Log(cfg.ApplicationID, "logged:\n", log)
		}
	})
	return r
}

// stop ends the engine as a signal would.
func (r *running) stop() error {
	r.t.Helper()
	r.cancel()
	return r.ended()
}

// ended awaits an end that comes by itself.
func (r *running) ended() error {
	r.t.Helper()
	select {
	case err := <-r.done:
		return err
	case <-time.After(patience):
		require.FailNow(r.t, "the engine does not end")
		return nil
	}
}

// logged keeps what an engine logs.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logged) count(s string) int { return strings.Count(l.String(), s) }

// events keeps what an Observer sees.
type events struct {
	mu   sync.Mutex
	seen []eos.Event
}

func (e *events) Observe(ev eos.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen = append(e.seen, ev)
}

func (e *events) of(kind eos.Kind) []eos.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []eos.Event
	for _, ev := range e.seen {
		if ev.Kind == kind {
			out = append(out, ev)
		}
	}
	return out
}

// values are the values that a read_committed reader finds in topic.
func values(t *testing.T, c *kafkatest.Cluster, topic string) []string {
	t.Helper()
	var out []string
	for _, r := range c.ReadCommitted(t, topic) {
		out = append(out, string(r.Value))
	}
	return out
}

// produce writes values to partition 0, in one batch.
func produce(t *testing.T, c *kafkatest.Cluster, topic string, values ...string) {
	t.Helper()
	var rs []*kgo.Record
	for _, v := range values {
		rs = append(rs, &kgo.Record{Topic: topic, Value: []byte(v)})
	}
	c.Produce(t, rs...)
}

// soon waits for a condition.
func soon(t *testing.T, ok func() bool, what string) {
	t.Helper()
	require.Eventually(t, ok, patience, 20*time.Millisecond, what)
}

// deleteBefore trims partition 0 of topic.
func deleteBefore(t *testing.T, c *kafkatest.Cluster, topic string, at int64) {
	t.Helper()
	trim(t, c, topic, 0, at)
}
