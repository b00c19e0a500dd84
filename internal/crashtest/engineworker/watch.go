package engineworker

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Seen are the outputs that a read_committed reader has seen, with the time at
// which they came. Its methods may be called from any goroutine.
type Seen struct {
	mu    sync.Mutex
	times map[string][]time.Time
}

// Watch reads the output with read_committed until the test ends, straight from
// the brokers.
func (s *Stage) Watch() *Seen {
	s.t.Helper()
	seen := &Seen{times: map[string][]time.Time{}}
	client, err := kgo.NewClient(
		kgo.SeedBrokers(s.Cluster.Brokers()...), kgo.ConsumeTopics(s.Base.Output),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	)
	require.NoError(s.t, err)
	var done sync.WaitGroup
	done.Go(func() {
		for {
			fetches := client.PollFetches(context.WithoutCancel(s.t.Context()))
			if fetches.IsClientClosed() {
				return
			}
			seen.add(fetches, time.Now())
		}
	})
	s.t.Cleanup(func() {
		client.Close()
		done.Wait()
	})
	return seen
}

func (s *Seen) add(fetches kgo.Fetches, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fetches.EachRecord(func(r *kgo.Record) {
		// Generate names the input partition in the value: p<partition>-<sequence>.
		p, _, _ := strings.Cut(string(r.Value), "-")
		if ts := s.times[p]; len(ts) == 0 || ts[len(ts)-1] != at {
			s.times[p] = append(ts, at)
		}
	})
}

// Times are when outputs of an input partition came, one for each fetch.
func (s *Seen) Times(partition int32) []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]time.Time(nil), s.times[fmt.Sprintf("p%d", partition)]...)
}

// After is when the first output of an input partition came after t.
func (s *Seen) After(partition int32, t time.Time) (time.Time, bool) {
	for _, at := range s.Times(partition) {
		if at.After(t) {
			return at, true
		}
	}
	return time.Time{}, false
}

// WatchOffsets reads the group's stable offsets all the time. stop ends it and
// gives the cases in which one went back, and how many times it was read.
func (s *Stage) WatchOffsets() (stop func() (backwards []string, reads int)) {
	s.t.Helper()
	admin := s.Cluster.Admin(s.t)
	ctx, cancel := context.WithCancel(s.t.Context())
	s.t.Cleanup(cancel)
	var done sync.WaitGroup
	var backwards []string
	reads := 0
	done.Go(func() {
		newest := map[int32]int64{}
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			got, err := admin.FetchOffsets(ctx, s.App.Group)
			if err == nil {
				reads++
				got.Each(func(o kadm.OffsetResponse) {
					if o.Err == nil && o.At < newest[o.Partition] {
						backwards = append(backwards, fmt.Sprintf("%s[%d]: %d after %d", o.Topic, o.Partition, o.At, newest[o.Partition]))
					}
					newest[o.Partition] = max(newest[o.Partition], o.At)
				})
			}
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
	})
	return func() ([]string, int) {
		cancel()
		done.Wait()
		return backwards, reads
	}
}
