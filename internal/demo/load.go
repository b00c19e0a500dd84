package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// load writes orders at a pace.
type load struct {
	acked  atomic.Int64
	failed atomic.Pointer[error]
	inputs []Input // owned by run until it returns
}

// run writes until stop is closed and returns when all is acknowledged. A record
// that is not is an error: nothing can be counted then.
func (l *load) run(ctx context.Context, client *kgo.Client, topic string, rng *rand.Rand, perSecond int, stop <-chan struct{}) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	started := time.Now()
	for flowing := true; flowing; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-stop:
			flowing = false
		case <-tick.C:
		}
		due := int(time.Since(started).Seconds() * float64(perSecond))
		for len(l.inputs) < due {
			in := nextInput(rng, len(l.inputs))
			l.inputs = append(l.inputs, in)
			client.Produce(ctx, &kgo.Record{Topic: topic, Key: []byte(in.Key), Value: in.value()}, l.answered)
		}
	}
	if err := client.Flush(ctx); err != nil {
		return fmt.Errorf("write %s: %w", topic, err)
	}
	if err := l.failed.Load(); err != nil {
		return *err
	}
	return nil
}

func (l *load) answered(r *kgo.Record, err error) {
	if err != nil {
		err = fmt.Errorf("write %s[%d]: %w", r.Topic, r.Partition, err)
		l.failed.CompareAndSwap(nil, &err)
		return
	}
	l.acked.Add(1)
}
