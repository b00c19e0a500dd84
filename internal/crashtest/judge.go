package crashtest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/weirstream/weir/internal/crashtest/verdict"
	"github.com/weirstream/weir/internal/kafkatest"
)

// App is what a run is judged by.
type App struct {
	// Group is the consumer group.
	Group string
	// TransactionalIDs is the prefix of the application's transactional ids;
	// empty for one without transactions.
	TransactionalIDs string
	// Inputs are topics written without transactions: their logs end with
	// data, so that the group can reach the end offset.
	Inputs []string
	// Outputs are topics, written with transactions or without.
	Outputs []string
	// Oracle is the application as a pure function.
	Oracle verdict.Oracle
}

// Drained returns when the group's stable offsets are at the end of every input
// partition with data: nothing more will come if the generator has ended. The
// error names what is left when ctx ends.
func Drained(ctx context.Context, t testing.TB, cluster *kafkatest.Cluster, app App) error {
	t.Helper()
	admin := cluster.Admin(t)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	left := "unknown" // as last read
	for {
		now, err := lag(ctx, admin, app)
		if err == nil {
			if left = now; left == "" {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("crashtest: group %s has not drained its input: left %s: %w", app.Group, left, joined(err, ctx.Err()))
		case <-tick.C:
		}
	}
}

func joined(last, cause error) error {
	if last == nil {
		return cause
	}
	return fmt.Errorf("%w (%w)", cause, last)
}

// lag describes what the group has not committed yet; empty when nothing.
func lag(ctx context.Context, admin *kadm.Client, app App) (string, error) {
	ends, err := admin.ListEndOffsets(ctx, app.Inputs...)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return "", err
	}
	committed, err := admin.FetchOffsets(kadm.RequireStable(ctx), app.Group)
	if err == nil {
		err = committed.Error()
	}
	if err != nil {
		return "", err
	}
	var left []string
	for _, end := range ends.Offsets().Sorted() {
		at := int64(0)
		if c, ok := committed.Lookup(end.Topic, end.Partition); ok {
			at = max(0, c.At)
		}
		if at < end.At {
			left = append(left, fmt.Sprintf("%s[%d] %d of %d", end.Topic, end.Partition, at, end.At))
		}
	}
	return strings.Join(left, ", "), nil
}

// Judge gathers the evidence of a run whose workers have ended and returns the
// verdict. What the readers cannot see because a transaction hides it counts as
// an open transaction. A cluster that cannot be read fails the test.
func Judge(t testing.TB, cluster *kafkatest.Cluster, app App) verdict.Verdict {
	t.Helper()
	return JudgeAll(t, cluster, app)[0]
}

// JudgeAll is Judge for several runs whose topics differ. The second reader
// starts once for all of them, which is most of what a verdict costs.
func JudgeAll(t testing.TB, cluster *kafkatest.Cluster, apps ...App) []verdict.Verdict {
	t.Helper()
	var outputs []string
	open := make([][]verdict.OpenTransaction, len(apps)) // before anything is read: a time-out may end them meanwhile
	for i, app := range apps {
		outputs = append(outputs, app.Outputs...)
		open[i] = stillOpen(t, cluster, app)
	}
	second := map[string][]verdict.Record{}
	if len(outputs) > 0 {
		for _, r := range records(cluster.ReadCommittedJava(t, outputs...)) {
			second[r.Topic] = append(second[r.Topic], r)
		}
	}
	verdicts := make([]verdict.Verdict, len(apps))
	for i, app := range apps {
		var seen []verdict.Record
		for _, topic := range app.Outputs {
			seen = append(seen, second[topic]...)
		}
		verdicts[i] = judge(t, cluster, app, seen, open[i])
	}
	return verdicts
}

// judge is Judge with what the second reader saw and what was open before.
func judge(t testing.TB, cluster *kafkatest.Cluster, app App, second []verdict.Record, open []verdict.OpenTransaction) verdict.Verdict {
	t.Helper()
	e := verdict.Evidence{
		Inputs:    records(cluster.ReadCommitted(t, app.Inputs...)),
		Oracle:    app.Oracle,
		Readers:   [2][]verdict.Record{records(cluster.ReadCommitted(t, app.Outputs...)), second},
		Committed: map[verdict.TopicPartition]int64{},
		Ends:      map[verdict.TopicPartition]verdict.End{},
		Open:      open,
	}
	each(cluster.CommittedOffsets(t, app.Group), func(tp verdict.TopicPartition, at int64) {
		if at >= 0 {
			e.Committed[tp] = at
		}
	})
	each(cluster.EndOffsets(t, app.Inputs...), func(tp verdict.TopicPartition, at int64) {
		e.Ends[tp] = verdict.End{Log: at} // the data's end follows from the inputs
	})
	return verdict.Check(e)
}

// stillOpen lists the transactions of the application that are not over, and
// the output partitions whose end one of them hides.
func stillOpen(t testing.TB, cluster *kafkatest.Cluster, app App) []verdict.OpenTransaction {
	t.Helper()
	var open []verdict.OpenTransaction
	if app.TransactionalIDs != "" {
		for _, txn := range cluster.OpenTransactions(t, app.TransactionalIDs) {
			open = append(open, verdict.OpenTransaction{TransactionalID: txn.TxnID, State: txn.State})
		}
	}
	stable := cluster.StableOffsets(t, app.Outputs...)
	each(cluster.EndOffsets(t, app.Outputs...), func(tp verdict.TopicPartition, end int64) {
		if lso := stable[tp.Topic][tp.Partition]; lso < end {
			open = append(open, verdict.OpenTransaction{
				TransactionalID: "a transaction in " + tp.String(),
				State:           fmt.Sprintf("holding the last stable offset at %d, the log ends at %d", lso, end),
			})
		}
	})
	return open
}

func each(offsets kafkatest.Offsets, do func(verdict.TopicPartition, int64)) {
	for topic, partitions := range offsets {
		for partition, at := range partitions {
			do(verdict.TopicPartition{Topic: topic, Partition: partition}, at)
		}
	}
}

func records(read []kafkatest.Record) []verdict.Record {
	out := make([]verdict.Record, len(read))
	for i, r := range read {
		out[i] = verdict.Record{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset, Key: r.Key, Value: r.Value}
	}
	return out
}
