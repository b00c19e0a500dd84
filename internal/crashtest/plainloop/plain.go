package plainloop

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

// CommitLast consumes, produces, flushes and then commits the offsets, until
// ctx ends. A crash between the first produced record and the commit makes it
// produce the batch again: at least once.
//
// working is called after each commit. An error is final for this client.
func CommitLast(ctx context.Context, c Config, working func()) error {
	return c.plain(ctx, func(ctx context.Context, client *kgo.Client, fetches kgo.Fetches) error {
		if err := c.produce(ctx, client, fetches); err != nil {
			return err
		}
		if err := client.CommitUncommittedOffsets(ctx); err != nil {
			return fmt.Errorf("plainloop: commit: %w", err)
		}
		working()
		return nil
	})
}

// CommitFirst commits the offsets of what it consumed and then produces. A
// crash in between loses the batch: at most once. Otherwise as CommitLast.
func CommitFirst(ctx context.Context, c Config, working func()) error {
	return c.plain(ctx, func(ctx context.Context, client *kgo.Client, fetches kgo.Fetches) error {
		if err := client.CommitUncommittedOffsets(ctx); err != nil {
			return fmt.Errorf("plainloop: commit: %w", err)
		}
		working()
		return c.produce(ctx, client, fetches)
	})
}

// plain polls and hands on batches. A batch is finished when ctx ends.
func (c Config) plain(ctx context.Context, batch func(context.Context, *kgo.Client, kgo.Fetches) error) error {
	client, err := kgo.NewClient(append(c.options(), kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll())...)
	if err != nil {
		return fmt.Errorf("plainloop: %w", err)
	}
	defer client.CloseAllowingRebalance()
	for {
		fetches := client.PollRecords(ctx, pollRecords)
		if ctx.Err() != nil {
			return nil
		}
		if err := fetchError(fetches); err != nil {
			return err
		}
		if fetches.NumRecords() > 0 {
			if err := batch(context.WithoutCancel(ctx), client, fetches); err != nil {
				return err
			}
		}
		client.AllowRebalance()
	}
}

// produce sends the outputs of a batch and waits for their acknowledgements.
func (c Config) produce(ctx context.Context, client *kgo.Client, fetches kgo.Fetches) error {
	var first kgo.FirstErrPromise
	nth := 0
	fetches.EachRecord(func(r *kgo.Record) {
		nth++
		client.Produce(ctx, c.transform(ctx, r, nth), first.Promise())
	})
	if err := client.Flush(ctx); err != nil {
		return fmt.Errorf("plainloop: flush: %w", err)
	}
	if err := first.Err(); err != nil {
		return fmt.Errorf("plainloop: produce: %w", err)
	}
	return nil
}

// fetchError joins the errors of a poll.
func fetchError(fetches kgo.Fetches) error {
	var errs []error
	fetches.EachError(func(topic string, partition int32, err error) {
		errs = append(errs, fmt.Errorf("plainloop: fetch %s[%d]: %w", topic, partition, err))
	})
	return errors.Join(errs...)
}
