package effects_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/weirstream/weir/eos/guard"
	"github.com/weirstream/weir/internal/crashtest"
)

// The points at which a worker may be told to stand still.
const (
	beforeAdmit   = "intent read, before the ledger has it"
	admitted      = "in the ledger, before the offset of the intent"
	claimed       = "claimed, before the first byte"
	performed     = "answered, before it is booked"
	booked        = "booked, before the outcome is announced"
	beforePublish = "announced, before a record is chosen to publish"
	published     = "chosen, before the transaction that publishes"
)

// stations is a ledger at whose every step the process can be killed.
type stations struct {
	guard.Ledger
	self *crashtest.Self
}

func (s stations) Admit(ctx context.Context, effect string, intents []guard.Intent) ([]guard.Admitted, error) {
	s.self.Reach(beforeAdmit)
	out, err := s.Ledger.Admit(ctx, effect, intents)
	if err == nil {
		s.self.Reach(admitted)
	}
	return out, err
}

func (s stations) Claim(ctx context.Context, effect string, d guard.Delivery, n int) ([]guard.Claimed, error) {
	out, err := s.Ledger.Claim(ctx, effect, d, n)
	if err == nil && len(out) > 0 {
		s.self.Reach(claimed)
	}
	return out, err
}

func (s stations) Finish(ctx context.Context, effect string, d guard.Delivery, results []guard.Finished) ([]guard.Booked, error) {
	done := slices.ContainsFunc(results, func(f guard.Finished) bool {
		return f.Work == guard.Send && f.Reply.Verdict == guard.Performed
	})
	if done {
		s.self.Reach(performed)
	}
	out, err := s.Ledger.Finish(ctx, effect, d, results)
	if err == nil && done {
		s.self.Ready()
		s.self.Reach(booked)
	}
	return out, err
}

func (s stations) Publish(ctx context.Context, effect string, outcomes []guard.Announced) ([]bool, error) {
	s.self.Reach(beforePublish)
	out, err := s.Ledger.Publish(ctx, effect, outcomes)
	if err == nil && slices.Contains(out, true) {
		s.self.Reach(published)
	}
	return out, err
}

// forgetful is a ledger that is wrong on purpose: that an effect is about to be
// performed is written with what came of it, and not before the first byte leaves.
// If its worker dies, the effect counts as never sent.
type forgetful struct {
	guard.Ledger
	db *pgx.Conn // only the worker's goroutine claims and finishes
}

func (f forgetful) Claim(ctx context.Context, effect string, d guard.Delivery, n int) ([]guard.Claimed, error) {
	out, err := f.Ledger.Claim(ctx, effect, d, n)
	if err != nil {
		return nil, err
	}
	for _, c := range out {
		_, err := f.db.Exec(ctx, `UPDATE weir.effect SET state = $2, doubts = 0, attempts = 0, first_sent = NULL,
			not_before = lease_until, lease_until = NULL WHERE sum = $1`, c.Sum[:], int16(guard.Intended))
		if err != nil {
			return nil, fmt.Errorf("forgetful: %w", err)
		}
	}
	return out, nil
}

func (f forgetful) Finish(ctx context.Context, effect string, d guard.Delivery, results []guard.Finished) ([]guard.Booked, error) {
	for _, r := range results {
		_, err := f.db.Exec(ctx, `UPDATE weir.effect SET state = $2, doubts = $3, attempts = $4, first_sent = now(), lease_until = $5
			WHERE sum = $1 AND token = $6`, r.Sum[:], int16(r.Row.State), r.Row.Doubts, r.Row.Attempts, r.Row.LeaseUntil, int64(r.Row.Token)) //nolint:gosec // counts changes of hands
		if err != nil {
			return nil, fmt.Errorf("forgetful: %w", err)
		}
	}
	return f.Ledger.Finish(ctx, effect, d, results)
}
