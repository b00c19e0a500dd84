package killmatrix_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/weirstream/weir/internal/crashtest"
	"github.com/weirstream/weir/internal/kafkatest"
)

// atOnce is how many cells run at the same time: most of a cell is waiting.
const atOnce = 6

// TestKillMatrix runs every cell on a real Kafka and prints the table.
func TestKillMatrix(t *testing.T) {
	crashtest.RunMatrix(t, "killmatrix", cells(), notCells(), playAll)
}

// TestCellsHaveNamesOfTheirOwn: they are what results are kept under.
func TestCellsHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range cells() {
		require.False(t, seen[c.String()], c.String())
		seen[c.String()] = true
	}
}

// played is a cell that was run and not yet judged.
type played struct {
	cell   cell
	app    crashtest.App
	result crashtest.Result
	done   bool // there is something to judge
	logs   func() string
}

// playAll plays cells, several at once, and judges them together.
func playAll(t *testing.T, batch []cell) []crashtest.Result {
	t.Helper()
	cluster := kafkatest.Start(t)
	all := make([]played, len(batch))
	var g errgroup.Group
	g.SetLimit(atOnce)
	for i, c := range batch {
		g.Go(func() error {
			t.Run(c.String(), func(t *testing.T) { play(t, cluster, c, &all[i]) })
			return nil
		})
	}
	require.NoError(t, g.Wait())
	judge(t, cluster, all)
	results := make([]crashtest.Result, len(all))
	for i, p := range all {
		results[i] = p.result
	}
	return results
}

// play runs one cell up to the verdict.
func play(t *testing.T, cluster *kafkatest.Cluster, c cell, p *played) {
	t.Helper()
	started := time.Now()
	s := newScene(t, cluster, c)
	p.cell, p.app, p.logs = c, s.app, s.logs
	p.result = crashtest.Result{Row: c.Row(), Cell: c.Column(), Verdict: "not played to its end; see the log"}
	defer func() { p.result.Hit, p.result.Took = s.hit, time.Since(started) }()
	s.run()
	p.done = true
}

// judge fills in the verdicts and deletes the topics.
func judge(t *testing.T, cluster *kafkatest.Cluster, all []played) {
	t.Helper()
	var apps []crashtest.App
	var topics []string
	for _, p := range all {
		topics = append(append(topics, p.app.Inputs...), p.app.Outputs...)
		if p.done {
			apps = append(apps, p.app)
		}
	}
	verdicts := crashtest.JudgeAll(t, cluster, apps...)
	for i := range all {
		if all[i].done {
			all[i].result.Verdict, all[i].result.Clean = verdicts[0].String(), verdicts[0].Clean()
			verdicts = verdicts[1:]
			if !all[i].result.Clean {
				t.Errorf("%v: %s\n%s", all[i].cell, all[i].result.Verdict, all[i].logs())
			}
		}
	}
	if len(topics) == 0 {
		return
	}
	answers, err := cluster.Admin(t).DeleteTopics(t.Context(), topics...)
	require.NoError(t, err)
	require.NoError(t, answers.Error())
}
