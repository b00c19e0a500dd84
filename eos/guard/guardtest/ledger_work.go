package guardtest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/weirstream/weir/eos/guard"
)

func doneStaysDone(t *testing.T, l guard.Ledger) {
	t.Helper()
	d := delivery(guard.ClassKeyed, longLease, guard.Block)
	ins := intents(t, 0, item{"a", 1, 100})
	admit(t, l, ins)
	cs := claim(t, l, d, 10)
	equal(t, 1, len(cs), "claimed")
	equal(t, guard.Send, cs[0].Work, "work")
	equal(t, ins[0].Sum, cs[0].Sum, "sum")
	equal(t, ins[0].Identity.Key, cs[0].Key, "key")
	equal(t, ins[0].Payload, cs[0].Payload, "payload")
	equal(t, 0, len(claim(t, l, d, 10)), "claimed again")
	b := finish(t, l, d, said(cs[0], guard.Performed))[0]
	equal(t, guard.Done, b.State, "state")
	o, err := guard.ParseOutcome(b.Outcome)
	must(t, err)
	equal(t, guard.Outcome{
		Sum: cs[0].Sum, Key: cs[0].Key, Entity: "a", State: guard.Done, Result: []byte("r"), Payload: cs[0].Payload,
	}, o, "outcome")
	equal(t, []guard.Admitted{{Admission: guard.Duplicate, State: guard.Done}}, admit(t, l, ins), "the intent again")
	equal(t, 0, len(claim(t, l, d, 10)), "claimed after the end")
}

// lateWorker (row 29): the first worker is stopped within its call, a second takes
// over and ends it.
func lateWorker(t *testing.T, l guard.Ledger) {
	t.Helper()
	d := delivery(guard.ClassNatural, shortLease, guard.Block)
	admit(t, l, intents(t, 0, item{"a", 1, 100}))
	first := claim(t, l, d, 1)[0]
	second := claimed(t, l, d)
	equal(t, []uint64{1, 2}, []uint64{first.Row.Token, second.Row.Token}, "tokens")
	equal(t, guard.Send, second.Work, "work of the second")
	equal(t, true, finish(t, l, d, said(first, guard.Refused))[0].Fenced, "the first is fenced")
	b := finish(t, l, d, said(second, guard.Performed))[0]
	equal(t, false, b.Fenced, "the second is fenced")
	equal(t, guard.Done, b.State, "state")
	equal(t, true, finish(t, l, d, said(first, guard.Refused))[0].Fenced, "the first is fenced after the end, too")
}

// leaseLeavesDoubt: what becomes of an effect whose worker is silent depends on
// the class, and is never "not sent".
func leaseLeavesDoubt(t *testing.T, l guard.Ledger) {
	t.Helper()
	for i, class := range []guard.Class{guard.ClassReconciled, guard.ClassNatural} {
		d := delivery(class, shortLease, guard.Block)
		admit(t, l, intents(t, int64(i), item{"a", uint64(i), 100}))
		claim(t, l, d, 1)
		again := claimed(t, l, d)
		equal(t, map[guard.Class]guard.Work{guard.ClassReconciled: guard.Ask, guard.ClassNatural: guard.Send}[class], again.Work, "work of "+class.String())
		f := said(again, guard.Performed)
		f.Answer = guard.Answer{Found: guard.There}
		equal(t, guard.Done, finish(t, l, d, f)[0].State, "state")
	}
}

// bookedTwice: an answer of the ledger was lost, and the worker books again. The
// doubt that the first attempt left is taken back by no second word about the
// second one.
func bookedTwice(t *testing.T, l guard.Ledger) {
	t.Helper()
	d := delivery(guard.ClassNatural, longLease, guard.Block)
	admit(t, l, intents(t, 0, item{"a", 1, 100}))
	finish(t, l, d, said(claimed(t, l, d), guard.Unclear))
	unsent := said(claimed(t, l, d), guard.Unsent)
	equal(t, guard.Uncertain, finish(t, l, d, unsent)[0].State, "state")
	equal(t, true, finish(t, l, d, unsent)[0].Fenced, "the same again")
	third := claimed(t, l, d)
	equal(t, 2, third.Row.Doubts, "attempts that may have reached the receiver")

	asks := delivery(guard.ClassReconciled, longLease, guard.Block)
	admit(t, l, intents(t, 1, item{"b", 1, 100}))
	finish(t, l, asks, said(claimed(t, l, asks), guard.Unclear))
	absent := claimed(t, l, asks)
	for i, fenced := range []bool{false, true} {
		f := said(absent, guard.Unclear)
		f.Answer = guard.Answer{Found: guard.Absent}
		equal(t, fenced, finish(t, l, asks, f)[0].Fenced, fmt.Sprintf("look-up booked %d times before", i))
	}
}

func parkedStays(t *testing.T, l guard.Ledger) {
	t.Helper()
	d := delivery(guard.ClassAtMostOnce, shortLease, guard.Block)
	admit(t, l, intents(t, 0, item{"a", 1, 100}, item{"a", 2, 100}, item{"b", 1, 100}))
	cs := claim(t, l, d, 10)
	equal(t, []string{"a/1", "b/1"}, entities(t, cs), "heads")
	equal(t, guard.Uncertain, finish(t, l, d, said(cs[0], guard.Unclear))[0].State, "a/1")
	equal(t, guard.Done, finish(t, l, d, said(cs[1], guard.Performed))[0].State, "b/1")
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 10 { // beyond every lease and backoff
		equal(t, 0, len(claim(t, l, d, 10)), "claimed behind what is in doubt")
		<-tick.C
	}
	equal(t, guard.Parked, admit(t, l, intents(t, 0, item{"a", 1, 100}))[0].State, "state")
}

// entityOrder (row 21): what is uncertain holds up its entity, and no other.
func entityOrder(t *testing.T, l guard.Ledger) {
	t.Helper()
	d := delivery(guard.ClassNatural, longLease, guard.Block)
	admit(t, l, intents(t, 0, item{"a", 1, 1}, item{"a", 2, 1}, item{"b", 1, 1}, item{"a", 3, 1}))
	cs := claim(t, l, d, 10)
	equal(t, []string{"a/1", "b/1"}, entities(t, cs), "heads")
	equal(t, 0, len(claim(t, l, d, 10)), "behind heads in flight")
	finish(t, l, d, said(cs[0], guard.Unclear), said(cs[1], guard.Performed))
	cs = []guard.Claimed{claimed(t, l, d)}
	equal(t, []string{"a/1"}, entities(t, cs), "after a doubt")
	equal(t, 2, cs[0].Row.Attempts, "attempts")
	finish(t, l, d, said(cs[0], guard.Performed))
	for _, want := range []string{"a/2", "a/3"} {
		cs = claim(t, l, d, 10)
		equal(t, []string{want}, entities(t, cs), "next")
		finish(t, l, d, said(cs[0], guard.Performed))
	}
	equal(t, 0, len(claim(t, l, d, 10)), "left")
}

// superseded (row 22).
func superseded(t *testing.T, l guard.Ledger) {
	t.Helper()
	d := delivery(guard.ClassNatural, longLease, guard.SkipSuperseded)
	all := intents(t, 0, item{"a", 1, 1}, item{"a", 2, 1}, item{"a", 3, 1}, item{"b", 1, 1})
	admit(t, l, all[:1])
	first := claim(t, l, d, 10)
	admit(t, l, all[1:])
	b := claim(t, l, d, 10)
	equal(t, []string{"b/1"}, entities(t, b), "while a/1 is in flight")
	finish(t, l, d, said(first[0], guard.Unclear), said(b[0], guard.Performed))
	again := claimed(t, l, d)
	equal(t, []string{"a/1"}, entities(t, []guard.Claimed{again}), "what is in doubt comes first")
	finish(t, l, d, said(again, guard.Performed))
	last := claim(t, l, d, 10)
	equal(t, []string{"a/3"}, entities(t, last), "the newest")
	equal(t, guard.Superseded, admit(t, l, all[1:2])[0].State, "a/2")
	equal(t, guard.Done, finish(t, l, d, said(last[0], guard.Performed))[0].State, "a/3")
}

func unordered(t *testing.T, l guard.Ledger) {
	t.Helper()
	d := delivery(guard.ClassNatural, longLease, guard.Unordered)
	admit(t, l, intents(t, 0, item{"a", 1, 1}, item{"a", 2, 1}, item{"a", 3, 1}))
	equal(t, []string{"a/1", "a/2"}, entities(t, claim(t, l, d, 2)), "first two")
	equal(t, []string{"a/3"}, entities(t, claim(t, l, d, 2)), "the other")
}

// manyWorkers: eight workers take and finish, each effect once and each entity in
// order.
func manyWorkers(t *testing.T, l guard.Ledger) {
	t.Helper()
	const entityCount, each, workers = 20, 10, 8
	var items []item
	for seq := range each {
		for e := range entityCount {
			items = append(items, item{string(rune('a' + e)), uint64(seq), 1})
		}
	}
	admit(t, l, intents(t, 0, items...))
	d := delivery(guard.ClassNatural, longLease, guard.Block)
	var mu sync.Mutex
	next := map[string]uint64{}
	done := 0
	book := func(cs []guard.Claimed) {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range cs {
			p, err := itemCodec{}.Decode(c.Payload)
			if err != nil || next[p.Entity] != p.Seq {
				t.Errorf("%s/%d performed when %d was next (%v)", p.Entity, p.Seq, next[p.Entity], err)
			}
			next[p.Entity]++
			done++
		}
	}
	over := func() bool { mu.Lock(); defer mu.Unlock(); return done == entityCount*each }
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for begun := time.Now(); !over() && time.Since(begun) < patience && !t.Failed(); {
				cs, err := l.Claim(t.Context(), effectName, d, 3)
				if err != nil {
					t.Error(err)
					return
				}
				book(cs)
				var fs []guard.Finished
				for _, c := range cs {
					fs = append(fs, said(c, guard.Performed))
				}
				if _, err := l.Finish(t.Context(), effectName, d, fs); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	equal(t, entityCount*each, done, "performed")
}
