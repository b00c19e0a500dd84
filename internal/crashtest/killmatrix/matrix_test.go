package killmatrix_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/internal/crashtest"
	"github.com/weirstream/weir/internal/kafkatest"
)

const (
	// atOnce is how many cells run at the same time: most of a cell is waiting.
	atOnce = 6
	// batchSize is how many cells are judged together.
	batchSize = 100
	// partLimit ends a part of a proof in time; the next run goes on from there.
	partLimit = 55 * time.Minute
)

// rounds is how often each cell is to run.
func rounds(t *testing.T) int {
	t.Helper()
	env := os.Getenv("WEIR_PROOF_ROUNDS")
	if env == "" {
		return 1
	}
	n, err := strconv.Atoi(env)
	require.NoError(t, err, "WEIR_PROOF_ROUNDS")
	return n
}

// TestKillMatrix runs every cell on a real Kafka and prints the table.
func TestKillMatrix(t *testing.T) {
	want := rounds(t)
	book := openBook(t, os.Getenv("WEIR_PROOF_STATE"))
	all := cells()
	until := time.Now().Add(partLimit)
	var runs []cell // still to do, round by round
	for round := 1; round <= want; round++ {
		for _, c := range all {
			if book.count(c) < round {
				runs = append(runs, c)
			}
		}
	}
	t.Logf("%d cells, %d runs to do", len(all), len(runs))
	for len(runs) > 0 && time.Now().Before(until) {
		n := min(batchSize, len(runs))
		runBatch(t, book, runs[:n])
		runs = runs[n:]
	}
	results := append(book.results(all), notCells()...)
	var table strings.Builder
	require.NoError(t, crashtest.WriteTable(&table, results))
	crashtest.Publish(t, "\n%s", table.String())
	for _, r := range results {
		require.True(t, r.NotApplicable != "" || r.Counts(), "%s: %s: %s", r.Row, r.Cell, r.Verdict)
	}
	require.Empty(t, runs, "runs left after %v: run the same command again", partLimit)
}

// played is a cell that was run and not yet judged.
type played struct {
	cell   cell
	app    crashtest.App
	result crashtest.Result
	done   bool // there is something to judge
	logs   func() string
}

// runBatch plays cells, several at once, and judges them together.
func runBatch(t *testing.T, book *book, batch []cell) {
	t.Helper()
	cluster := kafkatest.Start(t)
	todo := make(chan int, len(batch))
	for i := range batch {
		todo <- i
	}
	close(todo)
	all := make([]played, len(batch))
	var wg sync.WaitGroup
	for range atOnce {
		wg.Go(func() {
			for i := range todo {
				t.Run(batch[i].String(), func(t *testing.T) { play(t, cluster, batch[i], &all[i]) })
			}
		})
	}
	wg.Wait()
	judge(t, cluster, all)
	for _, p := range all {
		if p.result.Row != "" { // played: -run may leave cells out
			book.add(t, p.cell, p.result)
		}
	}
}

// play runs one cell up to the verdict.
func play(t *testing.T, cluster *kafkatest.Cluster, c cell, p *played) {
	t.Helper()
	started := time.Now()
	s := newScene(t, cluster, c)
	p.cell, p.app, p.logs = c, s.app, s.logs
	p.result = crashtest.Result{Row: c.row(), Cell: c.column(), Verdict: "not played to its end; see the log"}
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

// summary is what the runs of one cell come to.
func summary(c cell, runs []crashtest.Result) crashtest.Result {
	out := crashtest.Result{Row: c.row(), Cell: c.column(), Hit: len(runs) > 0, Clean: len(runs) > 0, Verdict: "not run"}
	hit, clean, first := 0, 0, ""
	for _, r := range runs {
		out.Took += r.Took / time.Duration(len(runs))
		out.Verdict = r.Verdict
		if r.Hit {
			hit++
		}
		if r.Clean {
			clean++
		} else if first == "" {
			first = "; first not clean: " + r.Verdict
		}
	}
	out.Hit, out.Clean = hit == len(runs) && hit > 0, clean == len(runs) && clean > 0
	if len(runs) > 1 {
		out.Verdict = fmt.Sprintf("%d runs: %d hit, %d clean%s", len(runs), hit, clean, first)
	}
	return out
}
