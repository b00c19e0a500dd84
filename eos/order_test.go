package eos

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
)

// A slot may be released between the decision to process a batch and the look at
// the slot: what was held back before still goes to the producer first.
func TestOutputsGoBehindWhatIsHeldThoughTheSlotIsReleased(t *testing.T) {
	t.Parallel()
	s := &slot{released: true}
	s.txn = newTxn(t.Context(), 1, time.Now())
	w := worker{lane: &lane{engine: &Engine{}}, fn: func(r *kgo.Record, out *Out) error {
		out.Produce(&kgo.Record{Topic: "out", Value: r.Value})
		return nil
	}}
	give := func(value string, released bool) {
		o := &origin{Context: t.Context(), txn: s.txn, record: &kgo.Record{Value: []byte(value)}}
		require.NoError(t, w.one(t.Context(), s, o, special{}, released))
	}
	give("first", false)
	give("second", true)
	require.Len(t, s.txn.held.outputs, 2)
	require.Equal(t, "first", string(s.txn.held.outputs[0].Value))
	require.Equal(t, "second", string(s.txn.held.outputs[1].Value))
	_, _, err := s.txn.produced()
	require.NoError(t, err)
}
