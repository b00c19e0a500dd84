package guardtest

import (
	"testing"

	"github.com/weirstream/weir/eos/guard"
)

func ended(t *testing.T, l guard.Ledger) guard.Claimed {
	t.Helper()
	d := delivery(guard.ClassNatural, longLease, guard.Block)
	admit(t, l, intents(t, 0, item{"a", 1, 1}))
	c := claim(t, l, d, 1)[0]
	finish(t, l, d, said(c, guard.Performed))
	return c
}

func at(offset int64) guard.Origin {
	return guard.Origin{TopicID: [16]byte{2}, Topic: "intents", Partition: 3, Offset: offset}
}

func publish(t *testing.T, l guard.Ledger, outcomes ...guard.Announced) []bool {
	t.Helper()
	got, err := l.Publish(t.Context(), effectName, outcomes)
	must(t, err)
	return got
}

func onePlacePublishes(t *testing.T, l guard.Ledger) {
	t.Helper()
	sum := ended(t, l).Sum
	on := func(offset int64) guard.Announced { return guard.Announced{Sum: sum, Place: at(offset)} }
	equal(t, []bool{true, false}, publish(t, l, on(5), on(6)), "announced twice in a batch")
	equal(t, []bool{true}, publish(t, l, on(5)), "processed again")
	equal(t, []bool{false, true, false}, publish(t, l, on(7), on(5), on(6)), "announced again")
	elsewhere := on(5)
	elsewhere.Place.TopicID = [16]byte{9}
	equal(t, []bool{false}, publish(t, l, elsewhere), "the same offset of a topic that was made anew")

	admit(t, l, intents(t, 1, item{"a", 2, 1}))
	open := intents(t, 1, item{"a", 2, 1})[0].Sum
	equal(t, []bool{false}, publish(t, l, guard.Announced{Sum: open, Place: at(8)}), "the outcome of what is not over")
}

func outcomeWaits(t *testing.T, l guard.Ledger) {
	t.Helper()
	c := ended(t, l)
	left, err := l.Unpublished(t.Context(), effectName, 0, 10)
	must(t, err)
	equal(t, 1, len(left), "outcomes")
	o, err := guard.ParseOutcome(left[0])
	must(t, err)
	equal(t, c.Sum, o.Sum, "whose outcome")
	young, err := l.Unpublished(t.Context(), effectName, longLease, 10)
	must(t, err)
	equal(t, 0, len(young), "outcomes that are old")
	publish(t, l, guard.Announced{Sum: c.Sum, Place: at(1)})
	left, err = l.Unpublished(t.Context(), effectName, 0, 10)
	must(t, err)
	equal(t, 0, len(left), "outcomes after one was published")
}
