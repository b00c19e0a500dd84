package effects_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weirstream/weir/eos/guard"
	"github.com/weirstream/weir/eos/guard/guardtest/remotesim"
	"github.com/weirstream/weir/internal/crashtest"
	"github.com/weirstream/weir/internal/faultproxy"
	"github.com/weirstream/weir/internal/kafkatest"
	"github.com/weirstream/weir/internal/pgtest"
)

const (
	partitions = 3
	perSecond  = 40
	// again is how many of the first orders the sender sends twice.
	again = 20
	// patience bounds each wait.
	patience = 60 * time.Second

	victim   = "victim"
	survivor = "survivor"
)

// scene is one application with a bank and a database of its own.
type scene struct {
	t       *testing.T
	cluster *kafkatest.Cluster
	proxy   *faultproxy.Proxy
	bank    *remotesim.Remote
	db      *pgxpool.Pool
	config  workerConfig
	load    *crashtest.Generator
	live    []*crashtest.Worker // those that are to end cleanly
	all     []*crashtest.Worker
	hit     bool
	// bookedAt is when moreBooked last saw a booking.
	bookedAt time.Time
}

func newScene(t *testing.T, c class) *scene {
	t.Helper()
	return newSceneOn(t, c, pgtest.Database(t))
}

func newSceneOn(t *testing.T, c class, database string) *scene {
	t.Helper()
	cluster := kafkatest.Start(t)
	proxy, err := faultproxy.New(t.Context(), cluster.Brokers())
	require.NoError(t, err)
	t.Cleanup(proxy.Close)
	bank, err := remotesim.Start(t.Context())
	require.NoError(t, err)
	t.Cleanup(bank.Close)
	if c != keyed {
		bank.IgnoreKeys()
	}
	db, err := pgxpool.New(t.Context(), database)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	app := kafkatest.Name("shop")
	s := &scene{t: t, cluster: cluster, proxy: proxy, bank: bank, db: db, config: workerConfig{
		App: app, StateDir: t.TempDir(), Proxy: proxy.Env(), Brokers: cluster.Brokers(),
		In: app + "-in", Out: app + "-out", Bank: bank.URL(), Database: database, Class: c,
	}}
	cluster.CreateTopic(t, s.config.In, partitions, nil)
	cluster.CreateTopic(t, s.config.Out, partitions, nil)
	return s
}

// flow writes orders until finish.
func (s *scene) flow() { s.load = s.generate(0) }

// generate writes the first n orders, or all until it is stopped.
func (s *scene) generate(n int) *crashtest.Generator {
	s.t.Helper()
	return crashtest.Generate(s.t, s.cluster, crashtest.Load{Topic: s.config.In, Partitions: partitions, PerSecond: perSecond, Records: n})
}

// start runs a worker.
func (s *scene) start(instance string) *crashtest.Worker {
	s.t.Helper()
	c := s.config
	c.Instance = instance
	w := crashtest.Start(s.t, crashtest.Spec{Func: "shop", Label: instance, Config: c})
	s.live, s.all = append(s.live, w), append(s.all, w)
	return w
}

func (s *scene) ready(w *crashtest.Worker) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	require.NoError(s.t, w.WaitReady(ctx))
}

// kill ends a worker for good.
func (s *scene) kill(w *crashtest.Worker) {
	w.Kill()
	for i, o := range s.live {
		if o == w {
			s.live = append(s.live[:i:i], s.live[i+1:]...)
		}
	}
}

// stand has the worker stop at a point, and returns when it has said that it
// stands there.
func (s *scene) stand(w *crashtest.Worker, point string) {
	s.t.Helper()
	require.NoError(s.t, w.Arm(point, 0))
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	got, err := w.WaitHit(ctx)
	require.NoError(s.t, err)
	require.Equal(s.t, point, got)
	s.hit = true
}

// lose drops the victim's next EndTxn(commit) of one of its two engines, or the
// answer to it, and returns the handle once that has happened.
func (s *scene) lose(group string, at faultproxy.Point) *faultproxy.Handle {
	s.t.Helper()
	h := s.proxy.Add(faultproxy.Rule{
		At: at, Client: victim, Keys: []kmsg.Key{kmsg.EndTxn}, Nth: 1, Verdict: faultproxy.Drop,
		Match: func(e *faultproxy.Exchange) bool {
			req, err := e.Request()
			end, ok := req.(*kmsg.EndTxnRequest)
			return err == nil && ok && end.Commit && strings.HasPrefix(end.TransactionalID, group+"/")
		},
	})
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	require.NoError(s.t, h.Wait(ctx, 1))
	s.hit = true
	return h
}

// trap has the bank do something else with the victim's next request, and
// returns the order's id once it has come.
func (s *scene) trap(b remotesim.Behaviour, gate *remotesim.Gate) string {
	s.t.Helper()
	caught := make(chan string, 1)
	s.bank.Otherwise(func(r remotesim.Request) remotesim.Behaviour {
		if r.Header.Get(by) == victim && len(caught) == 0 {
			select {
			case caught <- r.ID:
				return b
			default: // another one was first
			}
		}
		return remotesim.Answer()
	})
	select {
	case <-gate.Reached():
	case <-time.After(patience):
		require.FailNow(s.t, "no request of the victim came")
	}
	s.hit = true
	id := <-caught
	s.bank.Otherwise(nil)
	return id
}

// poll asks until ok.
func (s *scene) poll(what string, ok func() bool) {
	s.t.Helper()
	require.Eventually(s.t, ok, patience, 50*time.Millisecond, what)
}

// ask counts rows.
func (s *scene) ask(sql string, args ...any) (n int) {
	s.t.Helper()
	require.NoError(s.t, s.db.QueryRow(s.t.Context(), sql, args...).Scan(&n))
	return n
}

// finish lets the load end, with repeats of its beginning, waits until nothing is
// open any more but what waits for a person, and ends the workers.
func (s *scene) finish() {
	s.t.Helper()
	sent := s.load.Acked() + perSecond
	s.poll("more orders", func() bool { return s.load.Acked() >= sent })
	s.load.Stop(s.t)
	s.generate(again).Wait(s.t)
	s.drained(s.config.App, s.config.In)
	s.drained(s.config.App+"-delivery", s.config.App+"-charge-intents")
	s.poll("the end of every effect", func() bool {
		return s.ask("SELECT count(*) FROM weir.effect WHERE state <> $1", int16(guard.Parked)) == 0 &&
			s.ask("SELECT count(*) FROM weir.outcome") == 0
	})
	s.drained(s.config.App+"-delivery", s.config.App+"-charge-intents")
	s.drained(s.config.App, s.config.App+"-charge-outcomes")
	s.end()
}

// end ends the workers with SIGTERM.
func (s *scene) end() {
	s.t.Helper()
	var errs []error
	for _, w := range s.live {
		errs = append(errs, w.Terminate(30*time.Second))
	}
	require.NoError(s.t, errors.Join(errs...))
}

func (s *scene) drained(group, topic string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	app := crashtest.App{Group: group, Inputs: []string{topic}}
	require.NoError(s.t, crashtest.Drained(ctx, s.t, s.cluster, app))
}

// logs are the ends of the logs of all workers.
func (s *scene) logs() string {
	var b strings.Builder
	for _, w := range s.all {
		fmt.Fprintf(&b, "--- %s (pid %d)\n%s\n", w.Label(), w.PID(), w.Tail())
	}
	return b.String()
}

// orders are the ids that are in the input, once each.
func (s *scene) orders() map[string]bool {
	ids := map[string]bool{}
	for _, r := range s.cluster.ReadCommitted(s.t, s.config.In) {
		ids[string(r.Value)] = true
	}
	return ids
}
