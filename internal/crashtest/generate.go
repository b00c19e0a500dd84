package crashtest

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/internal/kafkatest"
)

// Load is an input. Its records are spread evenly over the partitions, have the
// key "p<partition>-k<n>" and the value "p<partition>-<sequence>", the sequence
// counted from 0 within the partition, so that every value is unique and names
// its place.
type Load struct {
	Topic      string
	Partitions int32
	Keys       int // per partition; default 4
	PerSecond  int // the pace
	Records    int // how many at most; 0: until Stop
	ValueBytes int // values are padded to this length; 0: not
}

// Generator writes a Load beside the test.
type Generator struct {
	stop   context.CancelFunc
	done   chan struct{} // closed when all acknowledgements are in
	acked  atomic.Int64
	failed atomic.Pointer[error]
}

// Generate starts to write a load, without transactions, each record
// acknowledged by all replicas. It ends with the test.
func Generate(t testing.TB, cluster *kafkatest.Cluster, load Load) *Generator {
	t.Helper()
	if load.Keys == 0 {
		load.Keys = 4
	}
	ctx, stop := context.WithCancel(context.Background())
	g := &Generator{stop: stop, done: make(chan struct{})}
	client := cluster.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0))
	go func() { // stopped by Stop, waited for by Wait
		defer close(g.done)
		g.run(ctx, client, load)
	}()
	t.Cleanup(func() { stop(); <-g.done })
	return g
}

// run writes what is due at every tick.
func (g *Generator) run(ctx context.Context, client *kgo.Client, load Load) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	started := time.Now()
	sent := 0
	for ctx.Err() == nil && (load.Records == 0 || sent < load.Records) {
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
		due := int(time.Since(started).Seconds() * float64(load.PerSecond))
		if load.Records > 0 {
			due = min(due, load.Records)
		}
		for ; sent < due; sent++ {
			// Not ctx: Stop ends the pace, not what is under way.
			client.Produce(context.WithoutCancel(ctx), load.record(sent), func(r *kgo.Record, err error) {
				if err != nil {
					err = fmt.Errorf("crashtest: generate %s[%d] %s: %w", r.Topic, r.Partition, r.Value, err)
					g.failed.CompareAndSwap(nil, &err)
					return
				}
				g.acked.Add(1)
			})
		}
	}
	if err := client.Flush(context.WithoutCancel(ctx)); err != nil {
		g.failed.CompareAndSwap(nil, &err)
	}
}

// record is the n-th record of the load.
func (l Load) record(n int) *kgo.Record {
	partition := n % int(l.Partitions)
	seq := n / int(l.Partitions)
	value := fmt.Sprintf("p%d-%08d", partition, seq)
	if pad := l.ValueBytes - len(value) - 1; pad > 0 {
		value += " " + strings.Repeat(".", pad)
	}
	return &kgo.Record{
		Topic: l.Topic, Partition: int32(partition),
		Key: fmt.Appendf(nil, "p%d-k%d", partition, seq%l.Keys), Value: []byte(value),
	}
}

// Stop ends the load and waits for what is under way; see Wait.
func (g *Generator) Stop(t testing.TB) int {
	t.Helper()
	g.stop()
	return g.Wait(t)
}

// Wait returns, when the load is complete or stopped, how many records were
// acknowledged. A record that was not fails the test.
func (g *Generator) Wait(t testing.TB) int {
	t.Helper()
	<-g.done
	if err := g.failed.Load(); err != nil {
		t.Fatal(*err)
	}
	return int(g.acked.Load())
}

// Acked is the number of records acknowledged so far.
func (g *Generator) Acked() int { return int(g.acked.Load()) }
