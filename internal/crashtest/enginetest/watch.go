package enginetest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Seen are the records that a read_committed reader has seen, with the time at
// which they came. Its methods may be called from any goroutine.
type Seen struct {
	mu       sync.Mutex
	arrivals map[int32][]arrival // by input partition
}

// arrival is what one fetch brought of an input partition: the highest
// sequence so far, and when.
type arrival struct {
	sequence int64
	at       time.Time
}

// Watch reads a topic with read_committed until the test ends, straight from
// the brokers: the output, or as a control the input, which no engine delays.
func (s *Stage) Watch(topic string) *Seen {
	s.t.Helper()
	seen := &Seen{arrivals: map[int32][]arrival{}}
	client, err := kgo.NewClient(
		kgo.SeedBrokers(s.Cluster.Brokers()...), kgo.ConsumeTopics(topic),
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
		// Generate names the input's place in the value: p<partition>-<sequence>.
		var p int32
		var sequence int64
		if _, err := fmt.Sscanf(string(r.Value), "p%d-%d", &p, &sequence); err != nil {
			return // a record of another writer
		}
		as := s.arrivals[p]
		switch {
		case len(as) == 0 || as[len(as)-1].at != at:
			s.arrivals[p] = append(as, arrival{sequence, at})
		default:
			as[len(as)-1].sequence = max(as[len(as)-1].sequence, sequence)
		}
	})
}

// Times are when outputs of an input partition came, one for each fetch.
func (s *Seen) Times(partition int32) []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]time.Time, 0, len(s.arrivals[partition]))
	for _, a := range s.arrivals[partition] {
		out = append(out, a.at)
	}
	return out
}

// Beyond is when the first output came whose input was at offset from or behind
// it.
func (s *Seen) Beyond(partition int32, from int64) (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.arrivals[partition] {
		if a.sequence >= from {
			return a.at, true
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
