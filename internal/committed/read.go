package committed

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// ErrStop is what the function given to Read or Follow returns to end the
// reading; they then return nil.
var ErrStop = errors.New("read enough")

// idle is how long Read waits where the next record is not to be seen: an open
// transaction begins there, and what is before it was aborted.
const idle = 2 * time.Second

// Range is the offsets [From, To) of one partition.
type Range struct{ From, To int64 }

// Ranges returns what a read_committed reader can see of topic now: from the
// oldest record to the last stable offset, by partition.
func (c *Cluster) Ranges(ctx context.Context, topic string) (map[int32]Range, error) {
	if _, err := c.Topics(ctx, topic); err != nil {
		return nil, err
	}
	ranges := map[int32]Range{}
	err := c.Admin(ctx, func(ctx context.Context, adm *kadm.Client) error {
		starts, err := adm.ListStartOffsets(ctx, topic)
		if err = errors.Join(err, starts.Error()); err != nil {
			return c.Explain("the offsets of "+topic+" cannot be listed", err)
		}
		ends, err := adm.ListCommittedOffsets(ctx, topic)
		if err = errors.Join(err, ends.Error()); err != nil {
			return c.Explain("the offsets of "+topic+" cannot be listed", err)
		}
		ends.Each(func(o kadm.ListedOffset) {
			from, _ := starts.Lookup(o.Topic, o.Partition)
			ranges[o.Partition] = Range{From: from.Offset, To: o.Offset}
		})
		return nil
	})
	return ranges, err
}

// Read calls fn for the records of ranges, in order within a partition, until it
// has seen them all or fn returns an error.
//
// A broker that does not serve within the timeout is an error that names the
// offsets not reached. If an open transaction follows what was aborted, the end
// shows itself in no record, and Read ends after two idle seconds.
func (c *Cluster) Read(ctx context.Context, topic string, ranges map[int32]Range, fn func(*kgo.Record) error) error {
	todo := maps.Clone(ranges)
	maps.DeleteFunc(todo, func(_ int32, r Range) bool { return r.From >= r.To })
	if len(todo) == 0 {
		return nil
	}
	from := map[int32]kgo.Offset{}
	for p, r := range todo {
		from[p] = kgo.NewOffset().At(r.From)
	}
	client, err := c.reader(kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}), kgo.KeepControlRecords())
	if err != nil {
		return err
	}
	defer client.Close()
	seen := time.Now()
	for len(todo) > 0 {
		fetches, err := poll(ctx, client)
		if err != nil {
			return err
		}
		if fetches.Empty() {
			if open, err := c.behindOpen(ctx, topic, todo); err != nil || (open && time.Since(seen) > idle) {
				return err
			}
			if time.Since(seen) > c.timeout {
				return fmt.Errorf("%s: no records from %s within %v: partitions %v are not read to their end; try again",
					topic, c, c.timeout, slices.Sorted(maps.Keys(todo)))
			}
			continue
		}
		seen = time.Now()
		err = each(fetches, func(r *kgo.Record) error {
			if r.Offset >= ranges[r.Partition].To-1 {
				delete(todo, r.Partition)
			}
			if r.Offset >= ranges[r.Partition].To || r.Attrs.IsControl() {
				return nil
			}
			return fn(r)
		})
		if err != nil {
			return stopped(err)
		}
	}
	return nil
}

// behindOpen says whether an open transaction begins where each of todo ends.
func (c *Cluster) behindOpen(ctx context.Context, topic string, todo map[int32]Range) (bool, error) {
	open := true
	err := c.Admin(ctx, func(ctx context.Context, adm *kadm.Client) error {
		stable, err := adm.ListCommittedOffsets(ctx, topic)
		if err = errors.Join(err, stable.Error()); err != nil {
			return c.Explain("the offsets of "+topic+" cannot be listed", err)
		}
		ends, err := adm.ListEndOffsets(ctx, topic)
		if err = errors.Join(err, ends.Error()); err != nil {
			return c.Explain("the offsets of "+topic+" cannot be listed", err)
		}
		for p, r := range todo {
			lso, _ := stable.Lookup(topic, p)
			end, _ := ends.Lookup(topic, p)
			open = open && lso.Offset == r.To && end.Offset > r.To
		}
		return nil
	})
	return open, err
}

// Follow calls fn for every record of topic from the oldest one on, until ctx
// ends (nil) or fn returns an error.
func (c *Cluster) Follow(ctx context.Context, topic string, fn func(*kgo.Record) error) error {
	if _, err := c.Topics(ctx, topic); err != nil {
		return err
	}
	client, err := c.reader(kgo.ConsumeTopics(topic))
	if err != nil {
		return err
	}
	defer client.Close()
	for {
		fetches, err := poll(ctx, client)
		if ctx.Err() != nil {
			return nil
		}
		if err == nil {
			err = each(fetches, fn)
		}
		if err != nil {
			return stopped(err)
		}
	}
}

func (c *Cluster) reader(opts ...kgo.Opt) (*kgo.Client, error) {
	return c.Client(append(opts, kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))...)
}

// poll waits for records for half a second.
func poll(ctx context.Context, client *kgo.Client) (kgo.Fetches, error) {
	wait, cancel := context.WithTimeout(ctx, idle/4)
	defer cancel()
	fetches := client.PollFetches(wait)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for _, e := range fetches.Errors() {
		if !errors.Is(e.Err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("read %s[%d]: %w", e.Topic, e.Partition, e.Err)
		}
	}
	return fetches, nil
}

func each(fetches kgo.Fetches, fn func(*kgo.Record) error) error {
	for it := fetches.RecordIter(); !it.Done(); {
		if err := fn(it.Next()); err != nil {
			return err
		}
	}
	return nil
}

func stopped(err error) error {
	if errors.Is(err, ErrStop) {
		return nil
	}
	return err
}
