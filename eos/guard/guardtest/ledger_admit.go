package guardtest

import (
	"errors"
	"sync"
	"testing"

	"github.com/weirstream/weir/eos/guard"
)

func repeats(t *testing.T, l guard.Ledger) {
	t.Helper()
	fresh := guard.Admitted{Admission: guard.Fresh, State: guard.Intended}
	equal(t, []guard.Admitted{fresh}, admit(t, l, intents(t, 0, item{"a", 1, 100})), "the first")
	equal(t, []guard.Admitted{
		{Admission: guard.Duplicate, State: guard.Intended},
		{Admission: guard.Conflict, State: guard.Intended},
		fresh,
	}, admit(t, l, intents(t, 1, item{"a", 1, 100}, item{"a", 1, 101}, item{"a", 2, 101})), "repeats")
	cs := claim(t, l, delivery(guard.ClassNatural, longLease, guard.Unordered), 10)
	equal(t, []string{"a/1", "a/2"}, entities(t, cs), "to be performed")
}

func batchRepeats(t *testing.T, l guard.Ledger) {
	t.Helper()
	got := admit(t, l, intents(t, 0, item{"a", 1, 100}, item{"a", 1, 100}, item{"a", 1, 101}, item{"a", 1, 100}))
	var kinds []guard.Admission
	for _, a := range got {
		kinds = append(kinds, a.Admission)
	}
	equal(t, []guard.Admission{guard.Fresh, guard.Duplicate, guard.Conflict, guard.Duplicate}, kinds, "admissions")
	equal(t, 1, len(claim(t, l, delivery(guard.ClassNatural, longLease, guard.Unordered), 10)), "effects")
}

func originHasOneKey(t *testing.T, l guard.Ledger) {
	t.Helper()
	admit(t, l, intents(t, 7, item{"a", 1, 100}))
	got := admit(t, l, intents(t, 7, item{"a", 2, 100}))
	equal(t, guard.SecondKey, got[0].Admission, "another key of the record")
	got = admit(t, l, intents(t, 7, item{"a", 1, 100}))
	equal(t, guard.Duplicate, got[0].Admission, "its own key")
	equal(t, []string{"a/1"}, entities(t, claim(t, l, delivery(guard.ClassNatural, longLease, guard.Unordered), 10)), "to be performed")
}

// manyProcesses (rows 13, 14 and 17): eight processes admit the same keys, in
// orders of their own.
func manyProcesses(t *testing.T, l guard.Ledger) {
	t.Helper()
	const keys, processes = 200, 8
	items := make([]item, keys)
	for i := range items {
		items[i] = item{"a", uint64(i), 100}
	}
	var wg sync.WaitGroup
	fresh := make([]int, processes)
	errs := make([]error, processes)
	for p := range processes {
		turned := append(append([]item{}, items[p*keys/processes:]...), items[:p*keys/processes]...)
		ins := intents(t, int64(p)*keys, turned...)
		wg.Go(func() {
			for _, batch := range [][]guard.Intent{ins[:50], ins[50:120], ins[120:]} {
				got, err := l.Admit(t.Context(), effectName, batch)
				if err != nil {
					errs[p] = err
					return
				}
				for _, a := range got {
					if a.Admission == guard.Fresh {
						fresh[p]++
					} else if a.Admission != guard.Duplicate {
						t.Errorf("an equal intent is a %v", a.Admission)
					}
				}
			}
		})
	}
	wg.Wait()
	total := 0
	for p, err := range errs {
		must(t, err)
		total += fresh[p]
	}
	equal(t, keys, total, "fresh intents")
	equal(t, keys, len(claim(t, l, delivery(guard.ClassNatural, longLease, guard.Unordered), 2*keys)), "effects")
}

func oneOwner(t *testing.T, l guard.Ledger) {
	t.Helper()
	must(t, l.Own(t.Context(), "shop", []string{"mail", "charge"}))
	must(t, l.Own(t.Context(), "shop", []string{"charge", "book"}))
	must(t, l.Own(t.Context(), "crm", []string{"call"}))
	err := l.Own(t.Context(), "crm", []string{"mail", "call"})
	equal(t, true, errors.Is(err, guard.ErrForeign), "an effect of another application")
	equal(t, guard.Foreign("mail", "shop", "crm").Error(), err.Error(), "error")
}
