package eos

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
)

// verdict is what an error of one step means for the transaction.
type verdict int8

const (
	verdictOK      verdict = iota
	verdictRetry           // send the same request again
	verdictRejoin          // the generation moved: wait for the new one, check stamps, send again
	verdictRefused         // a clear no: the transaction can still be aborted
	verdictFenced          // a newer producer has the id, or the transaction timed out
	verdictUnknown         // no answer, or one that leaves the outcome open
	verdictFatal           // a clear no that will stay one: stop
)

// stepKind is a request of the transaction protocol.
type stepKind int8

const (
	stepInit stepKind = iota
	stepOpen
	stepOffsets
	stepEnd
)

// String names the request.
func (k stepKind) String() string {
	return [...]string{"InitProducerID", "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn"}[k]
}

// classify maps the error of a step to its verdict. It is exhaustive over what
// a 3.9 broker answers to these four requests; a code that is not listed leaves
// the outcome open, which costs a re-initialisation and never a record.
func classify(step stepKind, err error) verdict {
	if err == nil {
		return verdictOK
	}
	var code *kerr.Error
	if !errors.As(err, &code) {
		return verdictUnknown // no answer: network, deadline, closed client
	}
	switch code {
	case kerr.ConcurrentTransactions:
		return verdictRetry // the coordinator still completes the previous transaction
	case kerr.CoordinatorLoadInProgress, kerr.CoordinatorNotAvailable, kerr.NotCoordinator:
		return verdictRetry // franz-go has already retried; the coordinator is still moving
	case kerr.ProducerFenced, kerr.InvalidProducerEpoch:
		return verdictFenced
	case kerr.TransactionalIDAuthorizationFailed, kerr.GroupAuthorizationFailed,
		kerr.TopicAuthorizationFailed, kerr.ClusterAuthorizationFailed,
		kerr.InvalidTransactionTimeout, kerr.UnsupportedVersion:
		return verdictFatal
	}
	if step == stepOffsets {
		return classifyOffsets(code)
	}
	return verdictUnknown
}

func classifyOffsets(code *kerr.Error) verdict {
	switch code {
	case kerr.IllegalGeneration, kerr.RebalanceInProgress:
		return verdictRejoin
	case kerr.UnknownMemberID:
		return verdictRefused // expired: as lost
	case kerr.FencedInstanceID:
		return verdictFatal // a second process has this identity
	case kerr.UnknownTopicOrPartition, kerr.OffsetMetadataTooLarge, kerr.InvalidCommitOffsetSize:
		return verdictRefused
	}
	return verdictUnknown
}

// refusedForGood says whether a failed produce names a fault of the record, its
// topic or our rights, which a repetition meets again.
func refusedForGood(err error) bool {
	for _, code := range []*kerr.Error{
		kerr.MessageTooLarge, kerr.RecordListTooLarge, kerr.InvalidTimestamp, kerr.InvalidRecord,
		kerr.TopicAuthorizationFailed, kerr.UnknownTopicOrPartition, kerr.InvalidTopicException,
		kerr.PolicyViolation, kerr.UnsupportedForMessageFormat, kerr.UnsupportedCompressionType,
	} {
		if errors.Is(err, code) {
			return true
		}
	}
	return false
}
