package guard

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAResultThatIsTooLongIsNotKept: with it the outcome would not pass the topic
// of the intents, ever.
func TestAResultThatIsTooLongIsNotKept(t *testing.T) {
	t.Parallel()
	for size, note := range map[int]string{
		64 << 10:   "ok",
		64<<10 + 1: "ok (its result of 65537 bytes is longer than 64 KiB and not kept)",
	} {
		e := AtMostOnce("mail", charges(), func(context.Context, Call, order) Reply {
			return Reply{Verdict: Performed, Result: make([]byte, size), Detail: "ok"}
		})
		in, err := e.Open(intentOf(t, e, anOrder()))
		require.NoError(t, err)
		got := e.Perform(t.Context(), Call{Key: in.Identity.Key, Sum: in.Sum, Attempt: 1}, in.Payload)
		require.Equal(t, Performed, got.Verdict)
		require.Equal(t, note, got.Detail)
		require.Len(t, got.Result, map[bool]int{true: size}[size <= 64<<10])
	}
}
