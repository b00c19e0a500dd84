package deliver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/eos/guard"
	"github.com/weirstream/weir/eos/guard/deliver"
	"github.com/weirstream/weir/eos/guard/guardtest"
)

type order struct {
	ID  string
	Seq uint64
}

type codec struct{}

func (codec) Append(dst []byte, o order) ([]byte, error) {
	b, err := json.Marshal(o)
	return append(dst, b...), err
}
func (codec) Decode(b []byte) (o order, err error) { return o, json.Unmarshal(b, &o) }

func event() guard.Event[order] {
	return guard.Identify(guard.Source[order]{Name: "shop", IssuedBy: "shop", Lives: time.Hour}, codec{},
		func(o order) guard.Op { return guard.OpOf(o.ID, "charge", guard.Seq(o.Seq)) },
		func(o order) []any { return []any{o.ID} })
}

// call is one attempt that the receiver saw.
type call struct {
	at      time.Duration // since the world began
	id      string
	attempt int
	sum     guard.Sum
}

// world is a receiver, a ledger and a clock that stands still until everybody
// waits for it.
type world struct {
	t      *testing.T
	ledger *guardtest.Memory
	effect *guard.Effect[order]
	begun  time.Time

	mu        sync.Mutex
	calls     []call
	answer    func(ctx context.Context, c call) guard.Reply
	announced [][]byte
	events    []deliver.Event
}

// newWorld makes an effect that may be repeated, with answer as its receiver.
func newWorld(t *testing.T, answer func(context.Context, call) guard.Reply, opts ...guard.Option) *world {
	t.Helper()
	w := &world{t: t, ledger: guardtest.NewMemory(), begun: time.Now(), answer: answer}
	waiver := guard.Waiver{Owner: "test", Reason: "a test", Until: w.begun.Add(time.Hour)}
	w.effect = guard.AtLeastOnce("charge", event(), waiver, w.do, opts...)
	_, err := guard.New(w.ledger, w.effect)
	require.NoError(t, err)
	return w
}

func (w *world) do(ctx context.Context, c guard.Call, o order) guard.Reply {
	seen := call{time.Since(w.begun), fmt.Sprintf("%s/%d", o.ID, o.Seq), c.Attempt, c.Sum}
	w.mu.Lock()
	w.calls = append(w.calls, seen)
	w.mu.Unlock()
	return w.answer(ctx, seen)
}

func (w *world) seen() []call {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]call(nil), w.calls...)
}

func (w *world) heard() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.announced)
}

// admit takes orders into the ledger and returns their sums.
func (w *world) admit(orders ...order) (sums []guard.Sum) {
	w.t.Helper()
	var ins []guard.Intent
	for i, o := range orders {
		_, record, err := w.effect.AppendIntent(nil, o, "orders", [16]byte{1}, 0, int64(i), 0)
		require.NoError(w.t, err)
		in, err := w.effect.Open(record)
		require.NoError(w.t, err)
		ins, sums = append(ins, in), append(sums, in.Sum)
	}
	_, err := w.ledger.Admit(w.t.Context(), "charge", ins)
	require.NoError(w.t, err)
	return sums
}

// run starts a worker; stop asks it to end and waits.
func (w *world) run() (worker *deliver.Worker, stop func()) {
	worker = deliver.New(deliver.Config{
		Effect: w.effect, Ledger: w.ledger, Log: slog.New(slog.DiscardHandler),
		Announce: func(outcomes [][]byte) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.announced = append(w.announced, outcomes...)
		},
		Observe: func(e deliver.Event) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.events = append(w.events, e)
		},
	})
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	go func() { worker.Run(ctx); close(done) }() // awaited by stop
	return worker, func() { cancel(); <-done }
}

func always(v guard.Verdict) func(context.Context, call) guard.Reply {
	return func(context.Context, call) guard.Reply { return guard.Reply{Verdict: v} }
}

func TestEveryEffectIsPerformedOnceAndItsOutcomeAnnounced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, always(guard.Performed))
		sums := w.admit(order{"a", 1}, order{"a", 2}, order{"b", 1})
		_, stop := w.run()
		time.Sleep(time.Second) //nolint:forbidigo // virtual time
		stop()
		require.Len(t, w.seen(), 3)
		for _, sum := range sums {
			require.Equal(t, guard.Done, w.ledger.State(sum))
		}
		require.Equal(t, 3, w.heard())
		require.Len(t, w.events, 3)
	})
}

// TestADoubtfulAttemptIsRepeatedUnderItsKeyAfterTheBackoff: attempt, key and
// order survive.
func TestADoubtfulAttemptIsRepeatedUnderItsKeyAfterTheBackoff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ context.Context, c call) guard.Reply {
			if c.attempt < 3 {
				return guard.Reply{Verdict: guard.Unclear}
			}
			return guard.Reply{Verdict: guard.Performed}
		}, guard.Backoff(10*time.Second, time.Minute))
		sums := w.admit(order{"a", 1}, order{"a", 2})
		_, stop := w.run()
		time.Sleep(35 * time.Second) //nolint:forbidigo // virtual time
		stop()
		var times []time.Duration
		for _, c := range w.seen()[:3] {
			require.Equal(t, "a/1", c.id)
			require.Equal(t, sums[0], c.sum)
			times = append(times, c.at.Truncate(time.Second))
		}
		require.Equal(t, []time.Duration{0, 10 * time.Second, 30 * time.Second}, times)
		require.Equal(t, "a/2", w.seen()[3].id, "what waited behind it")
	})
}

// TestRow38AReceiverThatAsksForPeaceIsLeftAlone: 429 with Retry-After: 7 holds up
// every effect of the sink.
func TestRow38AReceiverThatAsksForPeaceIsLeftAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ context.Context, c call) guard.Reply {
			if c.at < time.Second {
				return guard.Reply{Verdict: guard.Unsent, Wait: 7 * time.Second, Pause: true}
			}
			return guard.Reply{Verdict: guard.Performed}
		}, guard.MaxInFlight(1))
		w.admit(order{"a", 1}, order{"b", 1}, order{"c", 1})
		_, stop := w.run()
		time.Sleep(6999 * time.Millisecond) //nolint:forbidigo // virtual time
		require.Len(t, w.seen(), 1)
		time.Sleep(2 * time.Second) //nolint:forbidigo // virtual time
		stop()
		require.Len(t, w.seen(), 4)
		require.GreaterOrEqual(t, w.seen()[1].at, 7*time.Second)
	})
}

// TestAReceiverThatIsDownIsTriedByOneAtATime: nothing becomes uncertain by
// waiting.
func TestAReceiverThatIsDownIsTriedByOneAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ context.Context, c call) guard.Reply {
			if c.at < time.Minute {
				return guard.Reply{Verdict: guard.Unsent}
			}
			return guard.Reply{Verdict: guard.Performed}
		}, guard.Backoff(time.Second, 8*time.Second))
		var orders []order
		for i := range 40 {
			orders = append(orders, order{fmt.Sprint(i), 1})
		}
		sums := w.admit(orders...)
		_, stop := w.run()
		time.Sleep(time.Minute - time.Millisecond) //nolint:forbidigo // virtual time
		down := len(w.seen())
		require.Less(t, down, 16+15, "a full house at first, then a probe every 8 s")
		time.Sleep(time.Minute) //nolint:forbidigo // virtual time
		stop()
		for _, sum := range sums {
			require.Equal(t, guard.Done, w.ledger.State(sum))
		}
		require.Len(t, w.seen(), down+40)
	})
}

// TestALedgerThatIsDownLosesNoOutcome: what the receiver said waits for it.
func TestALedgerThatIsDownLosesNoOutcome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var w *world
		w = newWorld(t, func(context.Context, call) guard.Reply {
			w.ledger.Fail(errors.New("no route"))
			return guard.Reply{Verdict: guard.Performed}
		}, guard.Lease(10*time.Minute))
		sums := w.admit(order{"a", 1})
		_, stop := w.run()
		time.Sleep(2 * time.Minute) //nolint:forbidigo // virtual time
		require.Equal(t, guard.InFlight, w.ledger.State(sums[0]))
		w.ledger.Fail(nil)
		time.Sleep(10 * time.Second) //nolint:forbidigo // virtual time
		stop()
		require.Equal(t, guard.Done, w.ledger.State(sums[0]))
		require.Len(t, w.seen(), 1)
	})
}

func TestAShutdownWaitsForWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(context.Context, call) guard.Reply {
			time.Sleep(5 * time.Second) //nolint:forbidigo // virtual time
			return guard.Reply{Verdict: guard.Performed}
		})
		sums := w.admit(order{"a", 1}, order{"a", 2})
		_, stop := w.run()
		time.Sleep(time.Second) //nolint:forbidigo // virtual time
		stop()
		require.Equal(t, []guard.State{guard.Done, guard.Intended}, []guard.State{w.ledger.State(sums[0]), w.ledger.State(sums[1])})
		require.Len(t, w.seen(), 1, "nothing new is begun")
	})
}

// TestAShutdownCutsOffWhatOutlivesItsPatience, and books that it is in doubt.
func TestAShutdownCutsOffWhatOutlivesItsPatience(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(ctx context.Context, _ call) guard.Reply {
			<-ctx.Done()
			return guard.Reply{Verdict: guard.Unclear}
		}, guard.Timeout(time.Minute), guard.Lease(2*time.Minute))
		sums := w.admit(order{"a", 1})
		_, stop := w.run()
		time.Sleep(time.Second) //nolint:forbidigo // virtual time
		stop()
		require.Equal(t, 16*time.Second, w.events[0].Took)
		require.Equal(t, guard.Uncertain, w.ledger.State(sums[0]))
	})
}

// TestALedgerThatIsDownForLongerThanALease: the result that waits to be booked is
// booked first, whenever the ledger is back, and not taken for unknown by the
// worker that has it.
func TestALedgerThatIsDownForLongerThanALease(t *testing.T) {
	t.Parallel()
	for n := range 40 {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, func(context.Context, call) guard.Reply {
				time.Sleep(3 * time.Second) //nolint:forbidigo // virtual time
				return guard.Reply{Verdict: guard.Performed}
			})
			sums := w.admit(order{"a", 1})
			_, stop := w.run()
			time.Sleep(time.Second) //nolint:forbidigo // virtual time
			w.ledger.Fail(errors.New("down"))
			time.Sleep(2*time.Minute + time.Duration(n)*250*time.Millisecond) //nolint:forbidigo // virtual time
			w.ledger.Fail(nil)
			time.Sleep(time.Minute) //nolint:forbidigo // virtual time
			stop()
			require.Equal(t, guard.Done, w.ledger.State(sums[0]))
			require.Len(t, w.seen(), 1, "back after %v", time.Duration(n)*250*time.Millisecond)
		})
	}
}

// TestAnAttemptEndsBeforeItsLease: a receiver that does not answer is cut off by
// the time-out, which lies within the lease.
func TestAnAttemptEndsBeforeItsLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(ctx context.Context, _ call) guard.Reply {
			<-ctx.Done()
			return guard.Reply{Verdict: guard.Unclear}
		}, guard.Timeout(4*time.Second), guard.Lease(6*time.Second))
		w.admit(order{"a", 1})
		_, stop := w.run()
		time.Sleep(5 * time.Second) //nolint:forbidigo // virtual time
		stop()
		require.Equal(t, 4*time.Second, w.events[0].Took)
		require.False(t, w.events[0].Fenced)
	})
}

// TestAWorkerThatOverstaysItsLeaseIsFenced: another took the effect over, and the
// late answer changes nothing.
func TestAWorkerThatOverstaysItsLeaseIsFenced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ context.Context, c call) guard.Reply {
			if c.attempt == 1 {
				time.Sleep(9 * time.Second) //nolint:forbidigo // virtual time: deaf to its context
				return guard.Reply{Verdict: guard.Refused}
			}
			return guard.Reply{Verdict: guard.Performed}
		}, guard.Timeout(4*time.Second), guard.Lease(6*time.Second))
		sums := w.admit(order{"a", 1})
		_, stop := w.run()
		_, stopOther := w.run()
		time.Sleep(12 * time.Second) //nolint:forbidigo // virtual time
		stop()
		stopOther()
		require.Equal(t, guard.Done, w.ledger.State(sums[0]))
		require.Len(t, w.seen(), 2)
		require.Len(t, w.events, 2)
		require.True(t, w.events[1].Fenced)
	})
}

// TestAnAnnouncementThatIsLostIsMadeAgain: until somebody has published it.
func TestAnAnnouncementThatIsLostIsMadeAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, always(guard.Performed))
		sums := w.admit(order{"a", 1})
		_, stop := w.run()
		time.Sleep(16 * time.Second) //nolint:forbidigo // virtual time
		require.Equal(t, 2, w.heard())
		_, err := w.ledger.Publish(t.Context(), "charge", []guard.Announced{{Sum: sums[0]}})
		require.NoError(t, err)
		time.Sleep(time.Minute) //nolint:forbidigo // virtual time
		stop()
		require.Equal(t, 2, w.heard())
	})
}
