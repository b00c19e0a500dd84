package eos

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestErrorSaysWhereWhatAndWhatToDo(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]*Error{
		"eos: it broke":                             newError(ErrBroker, "it broke", "", nil),
		"eos: it broke; mend it":                    newError(ErrBroker, "it broke", "mend it", nil),
		"eos: it broke: EOF; mend it":               newError(ErrBroker, "it broke", "mend it", io.EOF),
		"eos: orders: it broke: EOF":                newError(ErrBroker, "it broke", "", io.EOF).at("orders", -1, -1),
		"eos: orders[0]: it broke":                  newError(ErrBroker, "it broke", "", nil).at("orders", 0, -1),
		"eos: orders[12]@0: it broke: EOF; mend it": newError(ErrBroker, "it broke", "mend it", io.EOF).at("orders", 12, 0),
	} {
		require.EqualError(t, err, want)
		require.ErrorIs(t, err, ErrBroker)
		require.NotErrorIs(t, err, ErrTopic)
		require.Equal(t, err.Err != nil, errors.Is(err, io.EOF))
	}
}

func TestErrorWithoutCoordinatesHasNone(t *testing.T) {
	t.Parallel()
	err := newError(ErrConfig, "x", "", nil)
	require.Equal(t, []any{"", int32(-1), int64(-1)}, []any{err.Topic, err.Partition, err.Offset})
	require.Same(t, err, asError(errors.Join(io.EOF, err)))
	require.EqualError(t, asError(io.EOF), "eos: the engine stopped: EOF")
}

func TestHandlerErrorCarriesTheRecord(t *testing.T) {
	t.Parallel()
	r := &kgo.Record{Topic: "orders", Partition: 3, Offset: 42}
	err := handlerError(r, io.EOF)
	require.EqualError(t, err, "eos: orders[3]@42: the handler failed: EOF; mend the record or the handler; nothing of the record was written")
	require.ErrorIs(t, err, ErrHandler)
}

func TestRetryAfterKeepsItsCause(t *testing.T) {
	t.Parallel()
	err := RetryAfter(io.EOF, 1500*time.Millisecond)
	require.EqualError(t, err, "retry in 1.5s: EOF")
	require.ErrorIs(t, err, io.EOF)
}
