package eos

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestRewindDropsOnlyWhatIsCommitted(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name      string
		committed map[partition]int64
		want      []int64
		next      int64
	}{
		{"not asked", nil, []int64{4, 6, 9}, 4},
		{"no commit at all", map[partition]int64{{"in", 0}: -1}, []int64{4, 6, 9}, 4},
		{"another partition", map[partition]int64{{"in", 1}: 9}, []int64{4, 6, 9}, 4},
		{"nothing of the batch", map[partition]int64{{"in", 0}: 4}, []int64{4, 6, 9}, 4},
		{"a hole", map[partition]int64{{"in", 0}: 5}, []int64{6, 9}, 5},
		{"some", map[partition]int64{{"in", 0}: 7}, []int64{9}, 7},
		{"all", map[partition]int64{{"in", 0}: 10}, nil, 10},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := someClaim(0)
			c.next = 4
			require.Equal(t, tc.want, offsets(uncommitted(someBatch(c, 4, 6, 9), tc.committed)))
			require.Equal(t, tc.next, c.next)
		})
	}
}

func TestOffsetsMovedByOthersAreNotFollowed(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		at   int64
		want string
	}{
		{"nothing committed", 10, ""},
		{"the first of two", 15, ""},
		{"both", 20, ""},
		{"none known to the broker", -1, ""},
		{"moved back", 9, "eos: in[0]@9: the committed offset was moved to 9 while the application ran; this member was between 10 and 20; " +
			"find who reset the group's offsets, stop every member first, then start again"},
		{"moved ahead", 21, "eos: in[0]@21: the committed offset was moved to 21 while the application ran; this member was between 10 and 20; " +
			"find who reset the group's offsets, stop every member first, then start again"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := someClaim(0)
			c.next = 10
			first, second := newTxn(t.Context(), 1, time.Now()), newTxn(t.Context(), 2, time.Now())
			defer first.cancel()
			defer second.cancel()
			first.add(someBatch(c, 10, 14))
			second.add(someBatch(c, 19))
			failed := []*txn{first, second}
			err := checkCommitted(failed, map[partition]int64{c.partition: tc.at})
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, tc.want)
			require.ErrorIs(t, err, ErrOffsetsLost)
			c.leaving = true
			require.NoError(t, checkCommitted(failed, map[partition]int64{c.partition: tc.at}), "its next owner moves it")
		})
	}
}

func TestRepetitionsBackOff(t *testing.T) {
	t.Parallel()
	require.Zero(t, backoff(0))
	require.Zero(t, backoff(1))
	require.Equal(t, 10*time.Millisecond, backoff(2))
	require.Equal(t, 20*time.Millisecond, backoff(3))
	last := time.Duration(0)
	for n := range 1000 {
		require.GreaterOrEqual(t, backoff(n), last)
		last = backoff(n)
	}
	require.Equal(t, time.Second, last)
}

// blamed is a failed transaction with these suspects.
func blamed(t *testing.T, c *claim, err error, offsets ...int64) *txn {
	t.Helper()
	x := newTxn(t.Context(), 1, time.Now())
	t.Cleanup(x.cancel)
	for _, o := range offsets {
		in := &kgo.Record{Topic: c.topic, Partition: c.id, Offset: o}
		out := &kgo.Record{Topic: "out", Key: []byte("key"), Value: make([]byte, 9)}
		x.add(newBatch(c, []*kgo.Record{in}))
		x.failed(&origin{txn: x, claim: c, record: in}, out, err)
	}
	return x
}

func TestOneSuspectIsGuilty(t *testing.T) {
	t.Parallel()
	c := someClaim(0)
	require.NoError(t, (&lane{}).blameLocked([]*txn{blamed(t, c, kerr.MessageTooLarge, 7)}))
	require.Empty(t, c.apart)
	require.Len(t, c.refused, 1)
	require.EqualError(t, c.refused[7], "output to out refused (key 3 bytes, value 9 bytes): "+kerr.MessageTooLarge.Error())
	require.ErrorIs(t, c.refused[7], kerr.MessageTooLarge)
}

// Each repetition halves the suspects: the guilty one of a thousand is found
// after eleven, and nobody else is refused.
func TestSeveralSuspectsAreParted(t *testing.T) {
	t.Parallel()
	const guilty, n = 417, 1000
	c := someClaim(0)
	l := &lane{engine: &Engine{}}
	from, to := int64(0), int64(n) // the batch that the guilty one is in
	for round := 1; ; round++ {
		require.LessOrEqual(t, round, 11)
		var in []int64
		for o := from; o < to; o++ {
			in = append(in, o)
		}
		require.NoError(t, l.blameLocked([]*txn{blamed(t, c, kerr.MessageTooLarge, in...)}))
		if len(c.refused) > 0 {
			require.Contains(t, c.refused, int64(guilty))
			require.Len(t, c.refused, 1)
			return
		}
		for o := range c.apart {
			if o <= guilty {
				from = max(from, o)
			} else {
				to = min(to, o)
			}
		}
	}
}

// Who was refused before may share a batch with another guilty one: that alone
// proves nothing.
func TestARefusedRecordAmongSuspectsIsNotGuiltyAgain(t *testing.T) {
	t.Parallel()
	c := someClaim(0)
	l := &lane{engine: &Engine{}}
	require.NoError(t, l.blameLocked([]*txn{blamed(t, c, kerr.MessageTooLarge, 7)}))
	require.NoError(t, l.blameLocked([]*txn{blamed(t, c, kerr.MessageTooLarge, 7, 8)}))
	require.Len(t, c.refused, 1)
	require.Contains(t, c.apart, int64(8))
}

func TestRefusedStandInEndsTheLoop(t *testing.T) {
	t.Parallel()
	c := someClaim(3)
	l := &lane{}
	require.NoError(t, l.blameLocked([]*txn{blamed(t, c, kerr.InvalidTimestamp, 7)}))
	err := l.blameLocked([]*txn{blamed(t, c, kerr.InvalidTimestamp, 7)})
	require.EqualError(t, err, "eos: in[3]@7: what stands in for its refused output was refused, too: "+
		"output to out refused (key 3 bytes, value 9 bytes): INVALID_TIMESTAMP: The timestamp of the message is out of acceptable range; mend the refusal handler")
	var refusal *Refusal
	require.ErrorAs(t, err, &refusal)
	require.ErrorIs(t, err, ErrRefused)
}

func TestOutputsFailInDoubtUnlessTheBrokerSaidNo(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		err    error
		want   result
		reason Reason
	}{
		{kerr.MessageTooLarge, resultRefused, ReasonProduce},
		{kgo.ErrAborting, resultRefused, ReasonProduce},
		{kerr.ProducerFenced, resultFenced, ReasonTakeover},
		{kerr.InvalidProducerEpoch, resultFenced, ReasonTakeover},
		{kgo.ErrRecordTimeout, resultUnknown, ReasonNoAnswer},
		{kerr.UnknownServerError, resultUnknown, ReasonNoAnswer},
		{errors.New("cut"), resultUnknown, ReasonNoAnswer},
	} {
		x := blamed(t, someClaim(0), tc.err, 1)
		got, reason, err := x.produced()
		require.Equal(t, tc.want, got, "%v", tc.err)
		require.Equal(t, tc.reason, reason, "%v", tc.err)
		require.ErrorIs(t, err, tc.err)
	}
	x := blamed(t, someClaim(0), kerr.MessageTooLarge, 1)
	x.failed(&origin{txn: x, claim: someClaim(0), record: &kgo.Record{}}, &kgo.Record{}, errors.New("cut"))
	got, _, _ := x.produced()
	require.Equal(t, resultUnknown, got, "a later doubt outweighs a refusal")

	x = blamed(t, someClaim(0), nil)
	got, _, _ = x.produced()
	require.Equal(t, resultOK, got)
	x.drop()
	got, _, _ = x.produced()
	require.Equal(t, resultRefused, got, "outputs were thrown away")
}
