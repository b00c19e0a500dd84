package eos

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

var (
	errLateCopy   = errors.New("a resent request has a copy without an answer")
	errStamp      = errors.New("a partition of the transaction has left this member")
	errNotMember  = errors.New("not in the group")
	errGeneration = errors.New("no new generation within the deadline")
)

const (
	// settlePause is the wait between two tries to initialise an id anew.
	settlePause = 250 * time.Millisecond
	// takeoverPause lets a process that took the id join the group, so that
	// the group can say which of the two is to stop.
	takeoverPause = time.Second
	// maxTakeovers in a row, without a commit between, end the engine.
	maxTakeovers = 8
	// maxOverdue times that a record keeps the handler longer than a
	// transaction may last end the engine.
	maxOverdue = 3
)

// init makes a fresh client and initialises the id, which fences every older
// producer of it and aborts what it left open.
func (s *slot) init(ctx context.Context) error {
	c := newCopies()
	client, err := s.lane.engine.newClient(s.lane.engine.producerOptions(s.id, c))
	if err != nil {
		return err
	}
	var pid int64
	var epoch int16
	if !s.lane.cfg().plain {
		pid, epoch, err = client.ProducerID(ctx)
	}
	if err != nil {
		client.Close()
		return err
	}
	s.client, s.copies, s.pid, s.epoch, s.begun = client, c, pid, epoch, false
	return nil
}

// settle ends an unknown outcome: discard the client, and initialise the id
// anew while this member is in the group under its instance id. It repeats
// until that has succeeded or ctx ends.
func (s *slot) settle(ctx context.Context) {
	s.discard()
	if s.fenced {
		s.fenced = false
		s.diagnose(ctx)
	}
	if !s.reinit(ctx, func() bool { return false }) {
		s.lane.abandon()
		<-ctx.Done() // nothing more may be sent, and nothing can be said of the transaction
	}
}

// reinit initialises the id once this member is confirmed to be in the group
// under its instance id: it is a takeover, and cannot be made conditional. It
// repeats until it has succeeded; false when ctx ended, when the id is refused
// or another's, or when vain says that it is no longer wanted.
func (s *slot) reinit(ctx context.Context, vain func() bool) bool {
	began := time.Now()
	for !s.lane.engine.fenced() && !vain() {
		if s.lane.member.confirm(ctx) {
			err := s.initWithin(ctx)
			if err == nil {
				s.observe(Event{Kind: Reinitialised})
				return true
			}
			if classify(stepInit, err) == verdictFatal {
				s.lane.engine.fail(s.fatal(stepInit, err))
				return false
			}
			s.lane.engine.log.Warn("transactional id not initialised, trying again",
				"transactional_id", s.id, "error", err)
		}
		if waited := time.Since(began); waited > s.lane.cfg().SessionTimeout {
			began = time.Now()
			s.lane.engine.log.Warn("not confirmed as a member of the group yet; the transactional id waits for it",
				"transactional_id", s.id, "waited", waited)
		}
		if !pause(ctx, settlePause) {
			return false
		}
	}
	return false
}

func (s *slot) initWithin(ctx context.Context) error {
	ctx, cancel := s.deadline(ctx)
	defer cancel()
	return s.init(ctx)
}

// diagnose tells a transaction that the broker ended because it was too old
// from one whose id another process took, by DescribeTransactions only: any
// other question from the fenced side could kill the newer owner.
func (s *slot) diagnose(ctx context.Context) {
	if s.timedOut(ctx) {
		s.lane.retag(s, ReasonTimedOut)
		s.lane.engine.log.Warn("transaction exceeded its time-out and was aborted by the broker; its records are processed again",
			"transactional_id", s.id, "timeout", s.lane.cfg().TransactionTimeout)
		s.blameHandler()
		return
	}
	n := s.lane.engine.takeovers.Add(1)
	s.lane.engine.log.Warn("transactional id taken by another producer", "transactional_id", s.id, "times", n)
	if n >= maxTakeovers {
		s.lane.engine.fail(newError(ErrFenced,
			fmt.Sprintf("%s was fenced %d times in a row", s.id, n),
			"find the other process with this instance id and stop it", nil))
	}
	pause(ctx, takeoverPause)
}

// blameHandler ends the engine when the same record has kept the handler longer
// than a transaction may last several times: it can never commit. The record is
// the transaction's last one, since none is taken once it is old enough to be
// committed.
func (s *slot) blameHandler() {
	l, t, limit := s.lane, s.txn, s.lane.cfg().TransactionTimeout
	l.mu.Lock()
	if t.busy <= limit || len(t.inputs) == 0 {
		l.mu.Unlock()
		return
	}
	last := t.inputs[len(t.inputs)-1]
	r := last.records[len(last.records)-1]
	times := last.claim.overran(r.Offset)
	l.mu.Unlock()
	if times >= maxOverdue {
		l.engine.fail(newError(ErrHandler,
			fmt.Sprintf("the handler took %v, longer than TransactionTimeout (%v), %d times in a row", t.busy.Round(time.Millisecond), limit, times),
			"make it quicker, or raise TransactionTimeout", nil).at(r.Topic, r.Partition, r.Offset))
	}
}

func (s *slot) timedOut(ctx context.Context) bool {
	ctx, cancel := s.deadline(ctx)
	defer cancel()
	for range 2 { // a takeover passes through the state of a time-out
		d, err := s.lane.member.adm.DescribeTransactions(ctx, s.id)
		t, ok := d[s.id]
		if err != nil || !ok || t.ProducerID != s.pid || t.ProducerEpoch != s.epoch+1 ||
			(t.State != "CompleteAbort" && t.State != "PrepareAbort") {
			return false
		}
		pause(ctx, 200*time.Millisecond)
	}
	return time.Since(s.txn.opened) > s.lane.cfg().TransactionTimeout
}

// fatal is the error of a step that the broker will go on refusing.
func (s *slot) fatal(step stepKind, err error) *Error {
	switch {
	case errors.Is(err, kerr.FencedInstanceID):
		return s.lane.member.fencedInstance()
	case errors.Is(err, kerr.TransactionalIDAuthorizationFailed):
		return newError(ErrUnauthorized, fmt.Sprintf("transactional id %s", s.id),
			"allow Write and Describe on TransactionalId with prefix "+s.lane.cfg().ApplicationID+idSeparator, err)
	case errors.Is(err, kerr.GroupAuthorizationFailed):
		return newError(ErrUnauthorized, "group "+s.lane.cfg().ApplicationID, "allow Read on the Group", err)
	case errors.Is(err, kerr.TopicAuthorizationFailed):
		return newError(ErrUnauthorized, "offsets of the input topics", "allow Read on the input topics", err)
	case errors.Is(err, kerr.InvalidTransactionTimeout):
		return newError(ErrConfig, fmt.Sprintf("TransactionTimeout %v exceeds the broker's transaction.max.timeout.ms", s.lane.cfg().TransactionTimeout),
			"lower it", err)
	}
	return newError(ErrBroker, fmt.Sprintf("%s of %s was refused", step, s.id), "see the error", err)
}
