package killmatrix_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/internal/crashtest"
	"github.com/weirstream/weir/internal/crashtest/verdict"
	"github.com/weirstream/weir/internal/faultproxy"
	"github.com/weirstream/weir/internal/kafkatest"
)

const (
	partitions = 6
	perSecond  = 300
	// fewPerSecond is the pace of the cells with a refused output: the engine
	// sends each output of a refused batch alone to find the culprit.
	fewPerSecond       = 60
	maxMessageBytes    = 100_000
	transactionTimeout = time.Minute
	// patience bounds each wait of a cell. It is below transactionTimeout, so
	// that a cell cannot be saved by it.
	patience = 40 * time.Second
)

// scene is one application under test with a proxy of its own.
type scene struct {
	t       *testing.T
	ctx     context.Context //nolint:containedctx // the cell's deadline
	cluster *kafkatest.Cluster
	proxy   *faultproxy.Proxy
	cell    cell
	app     crashtest.App
	load    *crashtest.Generator
	binary  string // of the workers; empty: this one
	answer  time.Duration
	retry   time.Duration
	live    []*crashtest.Worker // those that are to end cleanly
	all     []*crashtest.Worker
	hit     bool
}

func newScene(t *testing.T, cluster *kafkatest.Cluster, c cell) *scene {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	t.Cleanup(cancel)
	proxy, err := faultproxy.New(ctx, cluster.Brokers())
	require.NoError(t, err)
	t.Cleanup(proxy.Close)
	s := &scene{t: t, ctx: ctx, cluster: cluster, proxy: proxy, cell: c}
	group := kafkatest.Name("kill")
	in, out, out2 := group+"-in", group+"-out", group+"-out2"
	limit := map[string]string{"max.message.bytes": strconv.Itoa(maxMessageBytes)}
	cluster.CreateTopic(t, in, partitions, nil)
	cluster.CreateTopic(t, out, 3, limit)
	cluster.CreateTopic(t, out2, 2, limit)
	s.app = crashtest.App{
		Group: group, TransactionalIDs: group + "/", Inputs: []string{in}, Outputs: []string{out, out2},
		Oracle: func(r verdict.Record) []verdict.Out { return outputs([]string{out, out2}, r.Key, r.Value) },
	}
	return s
}

// spec describes a worker: its client.id, and the instance it says it is.
func (s *scene) spec(client, instance string) crashtest.Spec {
	session := s.cell.session
	if session == 0 {
		session = 3 * time.Second
	}
	return crashtest.Spec{Func: "engine", Label: client, Binary: s.binary, Config: workerConfig{
		App: s.app.Group, Instance: instance, Client: client, Proxy: s.proxy.Env(), Brokers: s.cluster.Brokers(),
		Input: s.app.Inputs[0], Outputs: s.app.Outputs, Lanes: s.cell.lanes, Session: session,
		Answer: s.answer, Retry: s.retry,
	}}
}

// start runs a worker and waits for its first commit.
func (s *scene) start(client string) *crashtest.Worker {
	s.t.Helper()
	w := s.begin(s.spec(client, client))
	s.ready(w)
	return w
}

// begin runs a worker.
func (s *scene) begin(spec crashtest.Spec) *crashtest.Worker {
	s.t.Helper()
	w := crashtest.Start(s.t, spec)
	s.live, s.all = append(s.live, w), append(s.all, w)
	return w
}

func (s *scene) ready(w *crashtest.Worker) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	require.NoError(s.t, w.WaitReady(ctx))
}

// kill ends a worker for good.
func (s *scene) kill(w *crashtest.Worker) {
	w.Kill()
	s.gone(w)
}

// gone takes a worker out of those that end cleanly.
func (s *scene) gone(w *crashtest.Worker) {
	for i, o := range s.live {
		if o == w {
			s.live = append(s.live[:i:i], s.live[i+1:]...)
			return
		}
	}
}

// flow writes input until the end of the cell.
func (s *scene) flow() {
	s.t.Helper()
	s.load = crashtest.Generate(s.t, s.cluster, crashtest.Load{Topic: s.app.Inputs[0], Partitions: partitions, PerSecond: s.pace()})
}

// pace is how many records are written in a second.
func (s *scene) pace() int {
	if s.cell.step.point == 10 {
		return fewPerSecond
	}
	return perSecond
}

// write writes one record with this value to every partition.
func (s *scene) write(value string) {
	s.t.Helper()
	var rs []*kgo.Record
	for p := range int32(partitions) {
		rs = append(rs, &kgo.Record{Topic: s.app.Inputs[0], Partition: p, Key: fmt.Appendf(nil, "p%d-own", p), Value: fmt.Appendf(nil, "%s p%d", value, p)})
	}
	s.cluster.Produce(s.t, rs...)
}

// more waits until n more records have been written.
func (s *scene) more(n int) {
	s.t.Helper()
	want := s.load.Acked() + n
	s.poll("more input", func() bool { return s.load.Acked() >= want })
}

// poll asks every few milliseconds until ok.
func (s *scene) poll(what string, ok func() bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-ctx.Done():
			require.FailNow(s.t, "not seen: "+what)
		case <-tick.C:
		}
	}
}

// finish lets the input end and be drained, and ends the workers.
func (s *scene) finish() {
	s.t.Helper()
	if s.load != nil {
		s.more(s.pace() / 3)
		s.load.Stop(s.t)
	}
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	require.NoError(s.t, crashtest.Drained(ctx, s.t, s.cluster, s.app))
	s.settled()
	var errs []error
	for _, w := range s.live {
		errs = append(errs, w.Terminate(20*time.Second))
	}
	require.NoError(s.t, errors.Join(errs...))
}

// settled waits until no transaction is open and none hides an output from
// read_committed: what a dead member left open is ended by those who live, not
// by its time-out.
func (s *scene) settled() {
	s.t.Helper()
	s.poll("the end of every transaction", func() bool {
		stable, end := s.cluster.StableOffsets(s.t, s.app.Outputs...), s.cluster.EndOffsets(s.t, s.app.Outputs...)
		for topic, partitions := range end {
			for p, at := range partitions {
				if stable[topic][p] < at {
					return false
				}
			}
		}
		return len(s.cluster.OpenTransactions(s.t, s.app.TransactionalIDs)) == 0
	})
}

// logs are the steps and the ends of the logs of all workers.
func (s *scene) logs() string {
	var b strings.Builder
	for _, w := range s.all {
		fmt.Fprintf(&b, "--- %s (pid %d) noted\n%s\nand logged\n%s\n", w.Label(), w.PID(), strings.Join(w.Notes(), "\n"), w.Tail())
	}
	return b.String()
}

// last is the newest step that the worker noted of a transactional id.
func last(w *crashtest.Worker, id string) string {
	step := ""
	for _, n := range w.Notes() {
		if point, of, ok := strings.Cut(n, " of "); ok && strings.HasPrefix(of, id+" ") {
			step = point
		}
	}
	return step
}

// other is the other slot of the lane of a transactional id. There are two.
func other(id string) string {
	if head, ok := strings.CutSuffix(id, "/0"); ok {
		return head + "/1"
	}
	return strings.TrimSuffix(id, "/1") + "/0"
}
