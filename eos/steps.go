package eos

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// retryPause is the wait before a request is repeated that the coordinator
// refused because it still completes the previous transaction.
const retryPause = 5 * time.Millisecond

// verdictResult maps the end of a step to the machine's result.
func (s *slot) verdictResult(step stepKind, err error) (result, Reason, error) {
	switch classify(step, err) {
	case verdictOK:
		if s.copies.inDoubt() {
			return resultUnknown, ReasonLateCopy, errLateCopy
		}
		return resultOK, ReasonNone, nil
	case verdictFenced:
		return resultFenced, ReasonTakeover, err
	case verdictRefused:
		return resultRefused, ReasonMembership, err
	case verdictFatal:
		s.lane.engine.fail(s.fatal(step, err))
		return resultRefused, ReasonBroker, err
	case verdictRetry, verdictRejoin, verdictUnknown:
	}
	return resultUnknown, ReasonNoAnswer, err
}

// until repeats send while the coordinator says that it is still busy.
func until(ctx context.Context, step stepKind, send func() error) error {
	for {
		err := send()
		if classify(step, err) != verdictRetry {
			return err
		}
		if !pause(ctx, retryPause) {
			return err
		}
	}
}

// pause waits for d; false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// open begins a transaction: InitProducerID if the id is not initialised,
// AddOffsetsToTxn, and AddPartitionsToTxn for what the last transactions wrote.
// All are awaited before the first Produce: on a 3.9 broker a Produce or
// TxnOffsetCommit beside one of them is refused and backed off for 0.25 s and
// more.
func (s *slot) open(ctx context.Context) (result, Reason, error) {
	ctx, cancel := s.deadline(ctx)
	defer cancel()
	vain := func() bool { return s.lane.doomed(s.index) }
	if s.client == nil && !s.reinit(ctx, vain) {
		return resultRefused, ReasonMembership, errNotMember
	}
	if s.lane.cfg().plain {
		s.startFilling()
		return resultOK, ReasonNone, nil
	}
	if err := s.client.BeginTransaction(); err != nil {
		return resultUnknown, ReasonBroker, err
	}
	err := until(ctx, stepOpen, func() error {
		req := kmsg.NewPtrAddOffsetsToTxnRequest()
		req.TransactionalID, req.Group = s.id, s.lane.cfg().ApplicationID
		req.ProducerID, req.ProducerEpoch = s.pid, s.epoch
		resp, err := req.RequestWith(ctx, s.client)
		if err != nil {
			return err
		}
		return kerr.ErrorForCode(resp.ErrorCode)
	})
	if err == nil {
		s.begun = true
		err = s.addPartitions(ctx)
	}
	if err == nil {
		s.startFilling()
		s.observe(Event{Kind: Opened})
	}
	return s.verdictResult(stepOpen, err)
}

// addPartitions announces the partitions that the lane's recent transactions
// wrote, so that franz-go's own announcements change nothing at the
// coordinator.
func (s *slot) addPartitions(ctx context.Context) error {
	topics := s.lane.recent.topics()
	if len(topics) == 0 {
		return nil
	}
	return until(ctx, stepOpen, func() error {
		req := kmsg.NewPtrAddPartitionsToTxnRequest()
		req.TransactionalID, req.ProducerID, req.ProducerEpoch = s.id, s.pid, s.epoch
		req.Topics = topics
		resp, err := req.RequestWith(ctx, s.client)
		if err != nil {
			return err
		}
		return partitionsError(resp)
	})
}

// partitionsError is the first error that concerns the transaction. A
// partition that is gone or not ours is left to the Produce that meets it:
// the broker then adds none, which costs only time.
func partitionsError(resp *kmsg.AddPartitionsToTxnResponse) error {
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			switch p.ErrorCode {
			case 0, kerr.OperationNotAttempted.Code, kerr.UnknownTopicOrPartition.Code, kerr.TopicAuthorizationFailed.Code:
			default:
				return kerr.ErrorForCode(p.ErrorCode)
			}
		}
	}
	return nil
}

// flush hands over what was held back and waits until every output is
// acknowledged.
func (s *slot) flush(ctx context.Context) (result, Reason, error) {
	start := time.Now()
	ctx, cancel := s.deadline(ctx)
	defer cancel()
	s.produce(s.txn, s.txn.held.outputs)
	s.txn.held = held{}
	stop := context.AfterFunc(s.txn.ctx, cancel) // actionCancel
	defer stop()
	err := s.client.Flush(ctx)
	s.txn.flush = time.Since(start)
	s.lane.recent.add(s.copies.takeWritten())
	if r, reason, cause := s.txn.produced(); r != resultOK {
		return r, reason, cause
	}
	if s.txn.ctx.Err() != nil {
		return resultRefused, ReasonCascade, nil // doomed meanwhile
	}
	if err != nil {
		return resultUnknown, ReasonNoAnswer, err
	}
	s.observe(Event{Kind: Flushed})
	return s.verdictResult(stepEnd, nil)
}

// offer sends TxnOffsetCommit with the identity of now and the ownership of
// when the records were polled.
func (s *slot) offer(ctx context.Context) (result, Reason, error) {
	start := time.Now()
	defer func() { s.txn.offsets = time.Since(start) }()
	ctx, cancel := s.deadline(ctx)
	defer cancel()
	var seen generation
	for {
		now, owned := s.lane.member.identify(s.txn.next)
		if !owned {
			return resultRefused, ReasonStamp, errStamp
		}
		if now != seen {
			seen = now
			err := until(ctx, stepOffsets, func() error { return s.sendOffsets(ctx, now) })
			if classify(stepOffsets, err) != verdictRejoin {
				r, reason, err := s.verdictResult(stepOffsets, err)
				if r == resultOK {
					s.observe(Event{Kind: OffsetsAccepted})
				}
				return r, reason, err
			}
		}
		if !pause(ctx, retryPause) || s.lane.doomed(s.index) {
			return resultRefused, ReasonMembership, errGeneration
		}
	}
}

func (s *slot) sendOffsets(ctx context.Context, g generation) error {
	if s.lane.cfg().plain || mutant == mutantOffsetsOutside {
		return s.commitPlain(ctx, g)
	}
	if len(s.txn.next) == 0 {
		return nil // every record it was opened for waits for a retry
	}
	req := kmsg.NewPtrTxnOffsetCommitRequest()
	req.TransactionalID, req.Group = s.id, s.lane.cfg().ApplicationID
	req.ProducerID, req.ProducerEpoch = s.pid, s.epoch
	req.MemberID, req.Generation, req.InstanceID = g.member, g.number, &s.lane.member.id.instance
	byTopic := map[string][]kmsg.TxnOffsetCommitRequestTopicPartition{}
	for c, at := range s.txn.next {
		p := kmsg.NewTxnOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset, p.LeaderEpoch = c.id, at.next, at.leaderEpoch
		byTopic[c.topic] = append(byTopic[c.topic], p)
	}
	for topic, partitions := range byTopic {
		t := kmsg.NewTxnOffsetCommitRequestTopic()
		t.Topic, t.Partitions = topic, partitions
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(ctx, s.client)
	if err != nil {
		return err
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return err
			}
		}
	}
	return nil
}

// commit ends the transaction. franz-go's EndTransaction sends nothing when no
// record was acknowledged, which would leave offsets pending: then EndTxn is
// sent here first.
func (s *slot) commit(ctx context.Context) (result, Reason, error) {
	start := time.Now()
	defer func() { s.txn.end = time.Since(start) }()
	ctx, cancel := s.deadline(ctx)
	defer cancel()
	if s.lane.cfg().plain {
		return resultOK, ReasonNone, nil
	}
	var err error
	if s.txn.outputs == 0 {
		err = s.endTxn(ctx, true)
	}
	if err == nil {
		err = s.client.EndTransaction(ctx, kgo.TryCommit)
	}
	r, reason, err := s.verdictResult(stepEnd, err)
	if r == resultUnknown && mutant == mutantUnknownCommitted {
		r = resultOK
	}
	if r == resultOK {
		s.begun = false
		s.observe(Event{Kind: Answered, Outcome: Committed})
	}
	return r, reason, err
}

// endTxn is the raw EndTxn.
func (s *slot) endTxn(ctx context.Context, commit bool) error {
	return until(ctx, stepEnd, func() error {
		req := kmsg.NewPtrEndTxnRequest()
		req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Commit = s.id, s.pid, s.epoch, commit
		resp, err := req.RequestWith(ctx, s.client)
		if err != nil {
			return err
		}
		return kerr.ErrorForCode(resp.ErrorCode)
	})
}

// abortBufferedTimeout bounds the wait for requests that are under way when a
// transaction is aborted; beyond it the outcome is unknown, and initialising
// the id anew aborts as well.
const abortBufferedTimeout = 5 * time.Second

// abort ends the transaction and discards the client: what franz-go believes
// about a transaction that failed is not needed again, and it would probe with
// InitProducerID at the old epoch, which kills a newer owner's transaction.
func (s *slot) abort(ctx context.Context) (result, Reason, error) {
	defer s.discard()
	ctx, cancel := s.deadline(ctx)
	defer cancel()
	s.stopFilling()
	if !s.begun {
		if s.client != nil && s.copies.inDoubt() {
			return resultUnknown, ReasonLateCopy, errLateCopy
		}
		return resultOK, ReasonNone, nil
	}
	s.observe(Event{Kind: Aborting})
	buffered, stop := context.WithTimeout(ctx, abortBufferedTimeout)
	defer stop()
	if err := s.client.AbortBufferedRecords(buffered); err != nil {
		return resultUnknown, ReasonNoAnswer, err
	}
	if r, reason, err := s.txn.produced(); r == resultUnknown {
		return r, reason, err
	}
	err := s.endTxn(ctx, false)
	r, reason, err := s.verdictResult(stepEnd, err)
	if r == resultOK {
		s.observe(Event{Kind: Answered, Outcome: Aborted})
	}
	return r, reason, err
}

func (s *slot) observe(e Event) {
	e.Lane, e.Slot, e.TransactionalID = s.lane.number, s.index, s.id
	s.lane.engine.observe(e)
}
