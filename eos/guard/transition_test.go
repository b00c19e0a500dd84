package guard

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const lease = 10 * time.Second

func at(seconds int) time.Time { return time.Unix(int64(seconds), 0) }

func policy(c Class) Policy {
	return Policy{
		Class: c, Window: 100 * time.Second, Settle: 20 * time.Second, Attempts: 3,
		Backoff: func(n int) time.Duration { return time.Duration(n) * time.Second },
	}
}

// sent is a row after one attempt at 0 that got no answer by 1.
func sent(t *testing.T, p Policy) Row {
	t.Helper()
	r, work := Row{State: Intended}.Claim(p, at(0), lease)
	require.Equal(t, Send, work)
	require.Equal(t, Row{State: InFlight, Token: 1, LeaseUntil: at(10), Doubts: 1, FirstSent: at(0), Attempts: 1}, r)
	return r.Finish(p, Unclear, at(1), 0)
}

func TestWhatAClassDoesAboutAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	for class, want := range map[Class]Work{
		ClassNatural: Send, ClassConditional: Send, ClassKeyed: Send, ClassAtLeastOnce: Send, ClassReconciled: Ask, ClassAtMostOnce: Nothing,
	} {
		r := sent(t, policy(class))
		require.Equal(t, Uncertain, r.State)
		_, work := r.Claim(policy(class), at(1), lease)
		require.Equal(t, Nothing, work, "%v: not before its backoff", class)
		r, work = r.Claim(policy(class), at(2), lease)
		require.Equal(t, want, work, "%v", class)
		if class == ClassAtMostOnce {
			require.Equal(t, Parked, r.State)
			require.Equal(t, WhyUnknown, r.Why)
		}
	}
}

func TestALeaseThatRunsOutIsAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	r, _ := Row{State: Intended}.Claim(policy(ClassReconciled), at(0), lease)
	_, work := r.Claim(policy(ClassReconciled), at(9), lease)
	require.Equal(t, Nothing, work, "it is held")
	r, work = r.Claim(policy(ClassReconciled), at(10), lease)
	require.Equal(t, Ask, work)
	require.Equal(t, Row{State: Uncertain, Token: 2, LeaseUntil: at(20), Doubts: 1, FirstSent: at(0), Attempts: 1}, r)
}

func TestAKeyIsRepeatedOnlyInsideItsWindowAndBudget(t *testing.T) {
	t.Parallel()
	p := policy(ClassKeyed)
	_, work := sent(t, p).Claim(p, at(89), lease)
	require.Equal(t, Send, work)
	_, work = sent(t, p).Claim(p, at(90), lease)
	require.Equal(t, Ask, work, "its lease would outlast the window")
	r := sent(t, p)
	for n := range 2 {
		r, work = r.Claim(p, at(10*n+10), lease)
		require.Equal(t, Send, work)
		r = r.Finish(p, Unclear, at(10*n+10), 0)
	}
	_, work = r.Claim(p, at(40), lease)
	require.Equal(t, Ask, work, "three attempts are spent")
}

func TestAbsentCountsOnceItHasSettled(t *testing.T) {
	t.Parallel()
	p := policy(ClassReconciled)
	asked, work := sent(t, p).Claim(p, at(5), lease)
	require.Equal(t, Ask, work)
	r := asked.Answer(p, Absent, at(6), at(7))
	require.Equal(t, Uncertain, r.State)
	_, work = r.Claim(p, at(25), lease)
	require.Equal(t, Nothing, work)
	again, work := r.Claim(p, at(26), lease)
	require.Equal(t, Ask, work)
	require.Equal(t, Uncertain, again.Answer(p, Absent, at(25), at(26)).State, "asked too early by its own clock")
	require.Equal(t, Done, again.Answer(p, There, at(26), at(26)).State, "it came late")
	require.Equal(t, Uncertain, again.Answer(p, NoAnswer, at(26), at(26)).State)
	r = again.Answer(p, Absent, at(26), at(26))
	require.Equal(t, Row{State: Intended, Token: 3, Attempts: 1}, r)
	r, work = r.Claim(p, at(27), lease)
	require.Equal(t, Send, work)
	require.Equal(t, Rejected, r.Finish(p, Refused, at(28), 0).State, "the first attempt is proved absent")
}

func TestSentTooOftenAndStillAbsentIsParked(t *testing.T) {
	t.Parallel()
	p := policy(ClassReconciled)
	p.Attempts = 1
	r, _ := sent(t, p).Claim(p, at(5), lease)
	r, _ = r.Answer(p, Absent, at(5), at(5)).Claim(p, at(25), lease)
	r = r.Answer(p, Absent, at(25), at(25))
	require.Equal(t, Parked, r.State)
	require.Equal(t, WhyBudget, r.Why)
	r, _ = r.Unpark(at(30))
	require.Equal(t, Uncertain, r.State)
	require.Zero(t, r.Attempts)
}

func TestWhatAnAttemptComesTo(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		class   Class
		doubts  int // before this attempt
		verdict Verdict
		wait    time.Duration
		want    Row // without token
	}{
		"performed":                        {ClassKeyed, 0, Performed, 0, Row{State: Done, Doubts: 1, FirstSent: at(0), Attempts: 1}},
		"refused":                          {ClassReconciled, 0, Refused, 0, Row{State: Rejected, Doubts: 1, FirstSent: at(0), Attempts: 1}},
		"refused in doubt, by a key":       {ClassKeyed, 1, Refused, 0, Row{State: Uncertain, Doubts: 2, FirstSent: at(0), Attempts: 2, AbsentSince: at(50)}},
		"refused in doubt":                 {ClassNatural, 1, Refused, 0, Row{State: Parked, Why: WhyContradict, Doubts: 2, FirstSent: at(0), Attempts: 2}},
		"not sent":                         {ClassAtMostOnce, 0, Unsent, 7 * time.Second, Row{State: Intended, InVain: 1, NotBefore: at(57)}},
		"not sent, an earlier in doubt":    {ClassKeyed, 1, Unsent, 0, Row{State: Uncertain, Doubts: 1, FirstSent: at(0), Attempts: 1, InVain: 1, NotBefore: at(51)}},
		"busy with an earlier one":         {ClassKeyed, 1, Busy, 7 * time.Second, Row{State: Uncertain, Doubts: 2, FirstSent: at(0), Attempts: 1, InVain: 1, NotBefore: at(57)}},
		"busy though never sent from here": {ClassKeyed, 0, Busy, 0, Row{State: Uncertain, Doubts: 1, FirstSent: at(0), InVain: 1, NotBefore: at(51)}},
		"other content":                    {ClassKeyed, 0, Mismatched, 0, Row{State: Parked, Why: WhyConflict, Doubts: 1, FirstSent: at(0), Attempts: 1}},
		"no answer":                        {ClassAtLeastOnce, 1, Unclear, 0, Row{State: Uncertain, Doubts: 2, FirstSent: at(0), Attempts: 2, NotBefore: at(52)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Row{State: Intended}
			for range tc.doubts + 1 {
				r, _ = r.doubtOrSelf().Claim(policy(tc.class), at(0), 0)
			}
			got := r.Finish(policy(tc.class), tc.verdict, at(50), tc.wait)
			got.Token = 0
			require.Equal(t, tc.want, got)
		})
	}
}

// TestARemoteThatIsBusyForEverIsAskedInTheEnd: some answer 409 for a reason of
// their own.
func TestARemoteThatIsBusyForEverIsAskedInTheEnd(t *testing.T) {
	t.Parallel()
	p := policy(ClassKeyed)
	r, sends := Row{State: Intended, NotBefore: at(0)}, 0
	for {
		next, work := r.Claim(p, r.NotBefore, lease)
		if work == Ask {
			break
		}
		require.Equal(t, Send, work)
		require.Less(t, sends, 10)
		r = next.Finish(p, Busy, next.LeaseUntil, 0)
		sends++
	}
	require.Equal(t, 5, sends, "two are given back, three are spent")
}

// TestARefusalInDoubtIsNotTheLastWord: what answers 404 may be a gateway that has
// never seen the key.
func TestARefusalInDoubtIsNotTheLastWord(t *testing.T) {
	t.Parallel()
	p := policy(ClassKeyed)
	r, work := sent(t, p).Claim(p, at(5), lease)
	require.Equal(t, Send, work)
	refused := r.Finish(p, Refused, at(6), 0)
	asked, work := refused.Claim(p, at(6), lease)
	require.Equal(t, Ask, work)
	require.Equal(t, Done, asked.Answer(p, There, at(7), at(7)).State)
	again, work := asked.Answer(p, Absent, at(26), at(26)).Claim(p, at(26), lease)
	require.Equal(t, Send, work, "absent, and settled since the refusal")
	require.Equal(t, Rejected, again.Finish(p, Refused, at(27), 0).State)
}

// doubtOrSelf makes the next claim of a row in flight possible at once.
func (r Row) doubtOrSelf() Row {
	if r.State == InFlight {
		return r.doubt()
	}
	return r
}

func TestWhatAPersonMayDecide(t *testing.T) {
	t.Parallel()
	doubt := sent(t, policy(ClassKeyed))
	held, _ := Row{State: Intended}.Claim(policy(ClassKeyed), at(0), lease)
	tooOld := Row{State: Parked, Why: WhyTooOld}
	resolve := func(to State) func(Row) (Row, error) {
		return func(r Row) (Row, error) { return r.Resolve(to, at(5)) }
	}
	park := func(r Row) (Row, error) { return r.Park(at(5)) }
	unpark := func(r Row) (Row, error) { return r.Unpark(at(5)) }
	for name, tc := range map[string]struct {
		row  Row
		do   func(Row) (Row, error)
		want State
		err  string
	}{
		"done":             {doubt, resolve(Done), Done, ""},
		"absent":           {doubt, resolve(Intended), Intended, ""},
		"given up":         {doubt, resolve(Rejected), Rejected, ""},
		"parked":           {doubt, park, Parked, ""},
		"too old, done":    {tooOld, resolve(Done), Done, ""},
		"too old, sent":    {tooOld, resolve(Intended), Parked, "the state of the effect does not allow it: it is older than the marks that are kept, so nobody knows whether it was done: resolve it as done or rejected"},
		"too old, back":    {tooOld, unpark, Parked, "the state of the effect does not allow it: it is older than the marks that are kept: resolve it"},
		"held":             {held, resolve(Done), InFlight, "a worker holds the effect until 1970-01-01T00:00:10Z"},
		"over":             {Row{State: Done}, resolve(Intended), Done, "the state of the effect does not allow it: it is done"},
		"never sent, done": {Row{State: Intended}, resolve(Done), Intended, "the state of the effect does not allow it: it is intended"},
		"to what is none":  {doubt, resolve(InFlight), Uncertain, "the state of the effect does not allow it: cannot be resolved as in_flight"},
		"not parked":       {doubt, unpark, Uncertain, "the state of the effect does not allow it: it is uncertain"},
		"back, never sent": {Row{State: Parked, Why: WhyOperator}, unpark, Intended, ""},
	} {
		got, err := tc.do(tc.row)
		require.Equal(t, tc.want, got.State, name)
		if tc.err != "" {
			require.EqualError(t, err, tc.err, name)
			require.Equal(t, tc.row, got, name)
			continue
		}
		require.NoError(t, err, name)
		require.Greater(t, got.Token, tc.row.Token, "%s: whoever held it is too late", name)
	}
	absent, err := doubt.Resolve(Intended, at(5))
	require.NoError(t, err)
	require.Equal(t, Row{State: Intended, Token: 2}, absent)
}

// TestBoundary21And22Order: rows 21 and 22 of the boundary's table, the decision.
func TestBoundary21And22Order(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		order                 Order
		states                []State
		claimable, superseded []int
	}{
		"block: the uncertain one in front":   {Block, []State{Done, Uncertain, Intended}, []int{1}, nil},
		"block: one in flight":                {Block, []State{InFlight, Intended}, []int{0}, nil},
		"block: parked":                       {Block, []State{Parked, Intended}, nil, nil},
		"block: all over":                     {Block, []State{Done, Rejected, Superseded}, nil, nil},
		"skip: only the newest":               {SkipSuperseded, []State{Uncertain, Intended, Intended}, []int{0}, []int{1}},
		"skip: nothing in front":              {SkipSuperseded, []State{Done, Intended, Intended}, []int{2}, []int{1}},
		"skip: one in flight stays":           {SkipSuperseded, []State{Intended, InFlight, Intended}, []int{1}, []int{0}},
		"skip: a parked one blocks the newer": {SkipSuperseded, []State{Parked, Intended, Intended}, nil, []int{1}},
		"unordered":                           {Unordered, []State{Uncertain, Parked, Intended}, []int{0, 2}, nil},
	} {
		claimable, superseded := tc.order.Line(tc.states)
		require.Equal(t, tc.claimable, claimable, name)
		require.Equal(t, tc.superseded, superseded, name)
	}
}

func TestNamesOfClassesAndStates(t *testing.T) {
	t.Parallel()
	for c := ClassTransactional; c <= ClassAtLeastOnce; c++ {
		require.NotEmpty(t, c.String())
		require.NotEmpty(t, c.Claim())
		require.NotEmpty(t, c.OnUnknown())
	}
	for s := Intended; s <= Superseded; s++ {
		require.NotEmpty(t, s.String())
	}
	require.Equal(t, []string{"block", "skip superseded", "unordered"}, []string{Block.String(), SkipSuperseded.String(), Unordered.String()})
}
