package plainloop_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/internal/crashtest"
	"github.com/weirstream/weir/internal/crashtest/plainloop"
	"github.com/weirstream/weir/internal/crashtest/verdict"
	"github.com/weirstream/weir/internal/kafkatest"
)

const (
	partitions = 4
	kills      = 12
	perSecond  = 2000
)

func TestMain(m *testing.M) {
	crashtest.Main(m, map[string]crashtest.Func{
		"commit-last":   worker(plainloop.CommitLast),
		"commit-first":  worker(plainloop.CommitFirst),
		"transactional": worker(plainloop.Transactional),
	})
}

// worker makes a loop a worker that is ready after its first commit.
func worker(loop func(context.Context, plainloop.Config, func()) error) crashtest.Func {
	return func(ctx context.Context, self *crashtest.Self) error {
		var c plainloop.Config
		if err := self.Decode(&c); err != nil {
			return err
		}
		return loop(ctx, c, self.Ready)
	}
}

// storm kills a loop while records flow and returns what the checker says.
func storm(t *testing.T, loop string) verdict.Verdict {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))

	cluster := kafkatest.Start(t)
	in, out := cluster.Topic(t, loop+"-in", partitions), cluster.Topic(t, loop+"-out", partitions)
	app := crashtest.App{Group: kafkatest.Name(loop), Inputs: []string{in}, Outputs: []string{out}}
	app.TransactionalIDs = app.Group + "/"
	app.Oracle = func(r verdict.Record) []verdict.Out { return []verdict.Out{{Topic: out, Key: r.Key, Value: r.Value}} }

	var specs []crashtest.Spec
	for _, id := range []string{"a", "b"} {
		specs = append(specs, crashtest.Spec{Func: loop, Label: loop + "-" + id, Config: plainloop.Config{
			Brokers: cluster.Brokers(), Group: app.Group, Instance: app.TransactionalIDs + id,
			Input: in, Output: out, Pause: 2 * time.Millisecond,
		}})
	}
	load := crashtest.Generate(t, cluster, crashtest.Load{Topic: in, Partitions: partitions, PerSecond: perSecond})
	started := time.Now()
	live := crashtest.Storm{Specs: specs, Kills: kills, From: 20 * time.Millisecond, To: 400 * time.Millisecond}.Run(t, rng)
	written := load.Stop(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, crashtest.Drained(ctx, t, cluster, app))
	for _, w := range live {
		require.NoError(t, w.Terminate(20*time.Second))
	}
	v := crashtest.Judge(t, cluster, app)
	require.Equal(t, written, v.Inputs)
	crashtest.Publish(t, "%s, %d kills in %v: %v", loop, kills, time.Since(started).Round(time.Millisecond), v)
	return v
}

func TestTheCheckerSeesDuplicatesOfThePlainLoop(t *testing.T) {
	v := storm(t, "commit-last")
	require.NotZero(t, v.Of(verdict.Duplicated).Count)
	require.Zero(t, v.Of(verdict.Missing).Count)
	require.Zero(t, v.Of(verdict.ReadersDisagree).Count)
}

func TestTheCheckerSeesLossesOfTheLoopThatCommitsFirst(t *testing.T) {
	v := storm(t, "commit-first")
	require.NotZero(t, v.Of(verdict.Missing).Count)
	require.Zero(t, v.Of(verdict.ReadersDisagree).Count)
}

func TestTheCheckerIsCleanOnATransactionalLoop(t *testing.T) {
	v := storm(t, "transactional")
	require.True(t, v.Clean(), v.String())
}
