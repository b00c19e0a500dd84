package eos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

var everyStep = []stepKind{stepInit, stepOpen, stepOffsets, stepEnd}

// classified holds each code of which the engine is sure; the second value is
// for TxnOffsetCommit alone, where it differs.
var classified = map[*kerr.Error][2]verdict{
	kerr.ConcurrentTransactions:             {verdictRetry, verdictRetry},
	kerr.CoordinatorLoadInProgress:          {verdictRetry, verdictRetry},
	kerr.CoordinatorNotAvailable:            {verdictRetry, verdictRetry},
	kerr.NotCoordinator:                     {verdictRetry, verdictRetry},
	kerr.ProducerFenced:                     {verdictFenced, verdictFenced},
	kerr.InvalidProducerEpoch:               {verdictFenced, verdictFenced},
	kerr.TransactionalIDAuthorizationFailed: {verdictFatal, verdictFatal},
	kerr.GroupAuthorizationFailed:           {verdictFatal, verdictFatal},
	kerr.TopicAuthorizationFailed:           {verdictFatal, verdictFatal},
	kerr.ClusterAuthorizationFailed:         {verdictFatal, verdictFatal},
	kerr.InvalidTransactionTimeout:          {verdictFatal, verdictFatal},
	kerr.UnsupportedVersion:                 {verdictFatal, verdictFatal},
	kerr.IllegalGeneration:                  {verdictUnknown, verdictRejoin},
	kerr.RebalanceInProgress:                {verdictUnknown, verdictRejoin},
	kerr.UnknownMemberID:                    {verdictUnknown, verdictRefused},
	kerr.FencedInstanceID:                   {verdictUnknown, verdictFatal},
	kerr.UnknownTopicOrPartition:            {verdictUnknown, verdictRefused},
	kerr.OffsetMetadataTooLarge:             {verdictUnknown, verdictRefused},
	kerr.InvalidCommitOffsetSize:            {verdictUnknown, verdictRefused},
}

// TestClassifyEveryCodeOfTheProtocol walks all error codes there are: what is
// not listed leaves the outcome open, and is never taken for a clear answer.
func TestClassifyEveryCodeOfTheProtocol(t *testing.T) {
	t.Parallel()
	for code := int16(-1); code < 200; code++ {
		err := kerr.ErrorForCode(code)
		var known *kerr.Error
		if !errors.As(err, &known) || known.Code != code {
			continue
		}
		want, listed := classified[known]
		if !listed {
			want = [2]verdict{verdictUnknown, verdictUnknown}
		}
		for _, step := range everyStep {
			expected := want[0]
			if step == stepOffsets {
				expected = want[1]
			}
			require.Equal(t, expected, classify(step, err), "step %d, %v", step, err)
			require.Equal(t, expected, classify(step, fmt.Errorf("request: %w", err)), "step %d, wrapped %v", step, err)
		}
	}
}

func TestClassifyNoAnswerIsUnknown(t *testing.T) {
	t.Parallel()
	for _, step := range everyStep {
		require.Equal(t, verdictOK, classify(step, nil))
		for _, err := range []error{
			io.EOF, context.DeadlineExceeded, context.Canceled, kgo.ErrClientClosed, errors.New("dial tcp: refused"),
		} {
			require.Equal(t, verdictUnknown, classify(step, err), "step %d, %v", step, err)
		}
	}
}

func TestOnlyFaultsOfTheRecordAreRefusals(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		kerr.MessageTooLarge, kerr.RecordListTooLarge, kerr.InvalidTimestamp, kerr.InvalidRecord,
		kerr.TopicAuthorizationFailed, kerr.UnknownTopicOrPartition, kerr.InvalidTopicException, kerr.PolicyViolation,
	} {
		require.True(t, refusedForGood(fmt.Errorf("produce: %w", err)), "%v", err)
	}
	for _, err := range []error{
		kerr.ProducerFenced, kerr.InvalidProducerEpoch, kerr.NotEnoughReplicas, kerr.NotLeaderForPartition,
		kerr.OutOfOrderSequenceNumber, kerr.UnknownProducerID, kerr.RequestTimedOut, kerr.UnknownServerError,
		kgo.ErrAborting, kgo.ErrRecordTimeout, context.Canceled, io.EOF,
	} {
		require.False(t, refusedForGood(err), "%v", err)
	}
}
