package eos

import (
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// A fetch may bring good records and, behind them, an error: franz-go has moved
// on behind the records, so they must not be thrown away with the error.
func TestRecordsInFrontOfAnErrorAreProcessed(t *testing.T) {
	t.Parallel()
	l := idleLane(t)
	c := someClaim(0)
	c.lane = l
	m := l.member
	m.claims[c.partition] = c
	got := m.sort(kgo.Fetches{{Topics: []kgo.FetchTopic{{Topic: "in", Partitions: []kgo.FetchPartition{{
		Partition: 0, Records: []*kgo.Record{{Offset: 7}}, Err: kerr.CorruptMessage,
	}}}}}})
	require.Len(t, got[l], 1)
	require.Len(t, got[l][0].records, 1)
}

func TestWhichFetchErrorsPass(t *testing.T) {
	t.Parallel()
	for _, err := range []error{kerr.CorruptMessage, kerr.LeaderNotAvailable, io.EOF, &net.OpError{Op: "dial", Err: errors.New("refused")}} {
		require.True(t, passes(fmt.Errorf("wrapped: %w", err)), "%v", err)
	}
	for _, err := range []error{errors.New("unknown magic"), kerr.UnsupportedCompressionType} {
		require.False(t, passes(err), "%v", err)
	}
}

// What fails while the engine is being stopped is still what Run returns.
func TestAFailureDuringTheShutdownIsKept(t *testing.T) {
	t.Parallel()
	l := idleLane(t)
	e := l.engine
	e.log = e.cfg.Logger
	stopped := 0
	e.stop = func() { stopped++ }
	e.stop()
	e.fail(newError(ErrHandler, "first", "", nil))
	e.fail(newError(ErrFenced, "second", "", nil))
	require.ErrorIs(t, e.failure.Load(), ErrHandler)
	require.False(t, e.fenced())
	require.Equal(t, 3, stopped)
}
