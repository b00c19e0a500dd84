package enginetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/internal/crashtest"
	"github.com/weirstream/weir/internal/faultproxy"
	"github.com/weirstream/weir/internal/kafkatest"
)

// patience bounds each wait of a stage.
const patience = 60 * time.Second

// Stage is one application under test: topics of its own, and a proxy of its
// own between it and the brokers. Its methods belong to the test's goroutine.
type Stage struct {
	Cluster *kafkatest.Cluster
	Proxy   *faultproxy.Proxy
	App     crashtest.App
	// Base is the configuration that workers start from.
	Base Config
	t    *testing.T
	live []*crashtest.Worker
	load *crashtest.Generator
}

// New makes the topics, with as many partitions each, and the proxy.
func New(t *testing.T, partitions int32, base Config) *Stage {
	t.Helper()
	cluster := kafkatest.Start(t)
	proxy, err := faultproxy.New(t.Context(), cluster.Brokers())
	require.NoError(t, err)
	t.Cleanup(proxy.Close)
	base.App = kafkatest.Name("app")
	base.Input, base.Output = base.App+"-in", base.App+"-out"
	base.Brokers, base.Proxy, base.StateDir = cluster.Brokers(), proxy.Env(), t.TempDir()
	cluster.CreateTopic(t, base.Input, partitions, nil)
	cluster.CreateTopic(t, base.Output, partitions, nil)
	return &Stage{Cluster: cluster, Proxy: proxy, Base: base, t: t, App: crashtest.App{
		Group: base.App, TransactionalIDs: base.App + "/", Inputs: []string{base.Input}, Outputs: []string{base.Output},
		Oracle: Oracle(base.Output),
	}}
}

// Flow writes input until Finish.
func (s *Stage) Flow(partitions int32, perSecond int) {
	s.load = crashtest.Generate(s.t, s.Cluster, crashtest.Load{Topic: s.Base.Input, Partitions: partitions, PerSecond: perSecond})
}

// Start runs a worker whose client.id is name; with static it is its instance
// id too.
func (s *Stage) Start(name string, static bool) *crashtest.Worker {
	s.t.Helper()
	c := s.Base
	c.Client = name
	if static {
		c.Instance = name
	}
	w := crashtest.Start(s.t, crashtest.Spec{Func: FuncName, Label: name, Config: c})
	s.live = append(s.live, w)
	return w
}

// Ready waits until each worker is assigned.
func (s *Stage) Ready(ws ...*crashtest.Worker) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	for _, w := range ws {
		require.NoError(s.t, w.WaitReady(ctx))
	}
}

// Kill ends a worker with SIGKILL.
func (s *Stage) Kill(w *crashtest.Worker) {
	s.forget(w)
	w.Kill()
}

// Terminate ends a worker with SIGTERM and has it end cleanly.
func (s *Stage) Terminate(w *crashtest.Worker) {
	s.t.Helper()
	s.forget(w)
	require.NoError(s.t, w.Terminate(30*time.Second), w.Tail())
}

func (s *Stage) forget(w *crashtest.Worker) {
	for i, o := range s.live {
		if o == w {
			s.live = append(s.live[:i:i], s.live[i+1:]...)
			return
		}
	}
}

// Stand returns once the worker stands at the armed point.
func (s *Stage) Stand(w *crashtest.Worker, point string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	got, err := w.WaitHit(ctx)
	require.NoError(s.t, err, w.Tail())
	require.Equal(s.t, point, got)
}

// Note waits for the first event behind the first skip ones for which ok holds.
func (s *Stage) Note(w *crashtest.Worker, skip int, what string, ok func(Note) bool) Note {
	s.t.Helper()
	var found Note
	s.Poll(what, func() bool {
		for _, n := range Notes(w)[skip:] {
			if ok(n) {
				found = n
				return true
			}
		}
		return false
	})
	return found
}

// Poll asks every few milliseconds until ok.
func (s *Stage) Poll(what string, ok func() bool) {
	s.t.Helper()
	require.Eventually(s.t, ok, patience, 5*time.Millisecond, what)
}

// Finish lets the input end and be drained, and ends the workers.
func (s *Stage) Finish() {
	s.t.Helper()
	s.load.Stop(s.t)
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	require.NoError(s.t, crashtest.Drained(ctx, s.t, s.Cluster, s.App))
	s.Poll("the end of every transaction", func() bool {
		return len(s.Cluster.OpenTransactions(s.t, s.App.TransactionalIDs)) == 0
	})
	var errs []error
	for _, w := range s.live {
		errs = append(errs, w.Terminate(30*time.Second))
	}
	require.NoError(s.t, errors.Join(errs...))
}
