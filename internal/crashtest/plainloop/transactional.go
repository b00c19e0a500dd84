package plainloop

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// endTimeout bounds the end of a transaction, also after ctx has ended.
const endTimeout = 30 * time.Second

// maxInRow is how many sessions in a row may fail without a commit between.
const maxInRow = 10

// Transactional copies in transactions with a GroupTransactSession until ctx
// ends. After any error of a session it throws the client away: the new one
// initialises the same transactional.id, which settles the transaction in
// doubt, and reads the committed offsets from the broker. Ending an unconfirmed
// transaction again with the old client instead can produce a batch twice.
//
// working is called after each commit. The error of the last of too many failed
// sessions in a row is final.
func Transactional(ctx context.Context, c Config, working func()) error {
	for failed := 0; ctx.Err() == nil; failed++ {
		err := c.session(ctx, func() { failed = 0; working() })
		if err != nil && failed >= maxInRow {
			return err
		}
	}
	return nil // a transaction in doubt is settled by the next one with this id
}

// session runs one client until ctx ends or anything goes wrong.
func (c Config) session(ctx context.Context, committed func()) error {
	s, err := kgo.NewGroupTransactSession(append(c.options(),
		kgo.TransactionalID(c.Instance), kgo.TransactionTimeout(30*time.Second))...)
	if err != nil {
		return fmt.Errorf("plainloop: %w", err)
	}
	defer s.Close()
	// Fence a predecessor before the first offset is read: a transaction that
	// it left open would hold the offsets back until its time-out.
	if _, _, err := s.Client().ProducerID(ctx); err != nil {
		return fmt.Errorf("plainloop: initialise %s: %w", c.Instance, err)
	}
	for {
		fetches := s.PollRecords(ctx, pollRecords)
		if ctx.Err() != nil {
			return nil
		}
		if err := fetchError(fetches); err != nil {
			return err
		}
		if fetches.NumRecords() == 0 {
			continue
		}
		ok, err := c.transaction(context.WithoutCancel(ctx), s, fetches)
		if err != nil {
			return err
		}
		if ok {
			committed()
		}
	}
}

// transaction copies one batch. False means aborted: the session has gone back
// to the committed offsets.
func (c Config) transaction(ctx context.Context, s *kgo.GroupTransactSession, fetches kgo.Fetches) (bool, error) {
	if err := s.Begin(); err != nil {
		return false, fmt.Errorf("plainloop: begin: %w", err)
	}
	first := kgo.AbortingFirstErrPromise(s.Client())
	nth := 0
	fetches.EachRecord(func(r *kgo.Record) {
		nth++
		s.Produce(ctx, c.transform(ctx, r, nth), first.Promise())
	})
	produced := first.Err() // waits for every promise
	ctx, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	ok, err := s.End(ctx, kgo.TransactionEndTry(produced == nil))
	if err != nil {
		return false, fmt.Errorf("plainloop: end: %w", err)
	}
	return ok, nil
}
