package crashtest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/internal/crashtest"
)

func TestTheTableTellsHitAndCleanApart(t *testing.T) {
	var b strings.Builder
	require.NoError(t, crashtest.WriteTable(&b, []crashtest.Result{
		{Row: "after poll", Cell: "restart, 1 lane", Hit: true, Clean: true, Verdict: "10 inputs, 10 of 10 outputs: clean", Took: 1500 * time.Millisecond},
		{Row: "after poll", Cell: "takeover, 3 lanes", Clean: true, Verdict: "10 inputs, 10 of 10 outputs: clean", Took: time.Second},
		{Row: "before EndTxn", Cell: "restart, 1 lane", Hit: true, Verdict: "10 inputs, 9 of 10 outputs: 1 missing", Took: time.Second},
		{Row: "before init", Cell: "takeover, 1 lane", NotApplicable: "nothing is joined yet"},
	}))
	require.Equal(t, strings.TrimLeft(`
row            cell               hit  seconds  verdict
after poll     restart, 1 lane    yes  1.5      10 inputs, 10 of 10 outputs: clean
after poll     takeover, 3 lanes  no   1.0      10 inputs, 10 of 10 outputs: clean
before EndTxn  restart, 1 lane    yes  1.0      10 inputs, 9 of 10 outputs: 1 missing
before init    takeover, 1 lane   -    -        not applicable: nothing is joined yet
1 cells hit and clean, 2 not, 1 not applicable
`, "\n"), b.String())
}
