package guardtest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/weirstream/weir/eos/guard"
)

// TestLedger runs the suite of guard.Ledger. open returns a ledger that no other
// test uses; it is called once for each test of the suite. It waits on the
// ledger's clock for leases of 0.1 s.
func TestLedger(t *testing.T, open func(*testing.T) guard.Ledger) {
	for name, test := range map[string]func(*testing.T, guard.Ledger){
		"an effect belongs to one application":                   oneOwner,
		"a repeat is a duplicate, other content a conflict":      repeats,
		"a key three times in one batch is admitted once":        batchRepeats,
		"an origin has one key":                                  originHasOneKey,
		"an effect that is done stays done":                      doneStaysDone,
		"a worker that is too late changes nothing":              lateWorker,
		"a lease that is over leaves doubt":                      leaseLeavesDoubt,
		"what is parked is not taken":                            parkedStays,
		"a result that is booked twice counts once":              bookedTwice,
		"an entity keeps its order":                              entityOrder,
		"the newest stands for those that wait":                  superseded,
		"without order nobody waits":                             unordered,
		"many workers take each effect once":                     manyWorkers,
		"many processes admit each key once":                     manyProcesses,
		"one place publishes an outcome, the same after a crash": onePlacePublishes,
		"an outcome waits until it is published":                 outcomeWaits,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// item is the payload of the suite's effect.
type item struct {
	Entity string
	Seq    uint64
	Amount int64
}

type itemCodec struct{}

func (itemCodec) Append(dst []byte, p item) ([]byte, error) {
	b, err := json.Marshal(p)
	return append(dst, b...), err
}

func (itemCodec) Decode(data []byte) (p item, err error) { return p, json.Unmarshal(data, &p) }

// effectName is that of the suite's effect.
const effectName = "effect"

// intents makes the intents that records of one topic would make, from its
// offset first on.
func intents(t testing.TB, first int64, items ...item) []guard.Intent {
	t.Helper()
	source := guard.Source[item]{Name: "suite", IssuedBy: "the suite", Lives: time.Hour}
	event := guard.Identify(source, itemCodec{},
		func(p item) guard.Op { return guard.OpOf(p.Entity, "act", guard.Seq(p.Seq)) },
		func(p item) []any { return []any{p.Amount} })
	e := guard.AtLeastOnce(effectName, event, guard.Waiver{}, nil)
	var all []guard.Intent
	for i, p := range items {
		_, record, err := e.AppendIntent(nil, p, "items", [16]byte{1}, 0, first+int64(i), 0)
		if err != nil {
			t.Fatal(err)
		}
		in, err := e.Open(record)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, in)
	}
	return all
}

// delivery is that of a class with a lease and an order.
func delivery(class guard.Class, lease time.Duration, order guard.Order) guard.Delivery {
	return guard.Delivery{
		Policy:  guard.Policy{Class: class, Attempts: 5, Backoff: func(int) time.Duration { return time.Millisecond }},
		Timeout: lease / 2, Lease: lease, InFlight: 10, Order: order, Outcomes: true,
	}
}

const (
	longLease  = time.Minute
	shortLease = 100 * time.Millisecond
	patience   = 20 * time.Second
)

func admit(t testing.TB, l guard.Ledger, ins []guard.Intent) []guard.Admitted {
	t.Helper()
	got, err := l.Admit(t.Context(), effectName, ins)
	must(t, err)
	return got
}

func claim(t testing.TB, l guard.Ledger, d guard.Delivery, n int) []guard.Claimed {
	t.Helper()
	got, err := l.Claim(t.Context(), effectName, d, n)
	must(t, err)
	return got
}

// claimed waits until an effect is due.
func claimed(t testing.TB, l guard.Ledger, d guard.Delivery) guard.Claimed {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for begun := time.Now(); time.Since(begun) < patience; <-tick.C {
		if got := claim(t, l, d, 1); len(got) == 1 {
			return got[0]
		}
	}
	t.Fatalf("no effect is due after %v", patience)
	return guard.Claimed{}
}

func said(c guard.Claimed, v guard.Verdict) guard.Finished {
	now := time.Now()
	return guard.Finished{Claimed: c, Reply: guard.Reply{Verdict: v, Result: []byte("r")}, Began: now, Ended: now}
}

func finish(t testing.TB, l guard.Ledger, d guard.Delivery, fs ...guard.Finished) []guard.Booked {
	t.Helper()
	got, err := l.Finish(t.Context(), effectName, d, fs)
	must(t, err)
	equal(t, len(fs), len(got), "bookings")
	return got
}

// entities lists what was claimed, as "entity/seq".
func entities(t testing.TB, cs []guard.Claimed) []string {
	t.Helper()
	var all []string
	for _, c := range cs {
		p, err := itemCodec{}.Decode(c.Payload)
		must(t, err)
		all = append(all, fmt.Sprintf("%s/%d", c.Entity, p.Seq))
	}
	return all
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal(t testing.TB, want, got any, what string) {
	t.Helper()
	if !reflect.DeepEqual(want, got) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}
