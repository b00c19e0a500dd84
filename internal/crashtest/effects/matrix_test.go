package effects_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/weirstream/weir/internal/crashtest"
	"github.com/weirstream/weir/internal/kafkatest"
)

// atOnce is how many cells run at the same time: most of a cell is waiting.
const atOnce = 8

// TestEffectMatrix kills processes with effects at every step, on a real Kafka
// and a real PostgreSQL, and prints the table.
func TestEffectMatrix(t *testing.T) {
	crashtest.RunMatrix(t, "effects", cells(), notCells(), playAll)
}

// played is a cell that was run and not yet judged.
type played struct {
	app    crashtest.App
	result crashtest.Result
	tally  tally
	ledger string
	done   bool // there is something to judge
	logs   func() string
}

// playAll plays cells, several at once, and judges them together.
func playAll(t *testing.T, batch []cell) []crashtest.Result {
	t.Helper()
	all := make([]played, len(batch))
	var g errgroup.Group
	g.SetLimit(atOnce)
	for i, c := range batch {
		g.Go(func() error {
			t.Run(c.String(), func(t *testing.T) { play(t, c, &all[i]) })
			return nil
		})
	}
	require.NoError(t, g.Wait())
	judge(t, all)
	results := make([]crashtest.Result, len(all))
	for i, p := range all {
		results[i] = p.result
	}
	return results
}

// play runs one cell and counts what it came to outside of Kafka.
func play(t *testing.T, c cell, p *played) {
	t.Helper()
	started := time.Now()
	s := newScene(t, c.class)
	p.logs = s.logs
	p.result = crashtest.Result{Row: c.Row(), Cell: c.Column(), Verdict: "not played to its end; see the log"}
	defer func() { p.result.Hit, p.result.Took = s.hit, time.Since(started) }()
	s.run(c)
	parked := s.parked()
	p.app, p.tally = s.app(parked), s.tally(parked)
	p.ledger = s.ledgerFaults(p.tally)
	p.done = true
}

// judge fills in the verdicts: outcomes as two readers see them, what the bank
// counted, and the ledger.
func judge(t *testing.T, all []played) {
	t.Helper()
	var apps []crashtest.App
	for _, p := range all {
		if p.done {
			apps = append(apps, p.app)
		}
	}
	verdicts := crashtest.JudgeAll(t, kafkatest.Start(t), apps...)
	for i := range all {
		p := &all[i]
		if !p.done {
			continue
		}
		v := verdicts[0]
		verdicts = verdicts[1:]
		p.result.Clean = v.Clean() && p.tally.clean() && p.ledger == ""
		p.result.Verdict = p.tally.String()
		if p.ledger != "" {
			p.result.Verdict += "; ledger: " + p.ledger
		}
		if !v.Clean() {
			p.result.Verdict += fmt.Sprintf("; outcomes: %v", v)
		}
		if !p.result.Clean {
			t.Errorf("%s: %s: %s\n%s", p.result.Row, p.result.Cell, p.result.Verdict, p.logs())
		}
	}
}
