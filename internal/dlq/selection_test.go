package dlq_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/internal/dlq"
	"github.com/weirstream/weir/processor/deadletter"
)

func TestASelectionChoosesByEverythingThatIsSet(t *testing.T) {
	t.Parallel()
	e := dlq.Entry{
		Record: &kgo.Record{Topic: "app-dlq", Partition: 1, Offset: 5},
		Letter: deadletter.Letter{Topic: "orders", Partition: 3, Offset: 42, Phase: "process"},
	}
	replayed, stray := e, e
	replayed.Replayed = time.Now()
	stray.Letter, stray.Bad = deadletter.Letter{}, errors.New("not a dead letter")
	for name, c := range map[string]struct {
		s                    dlq.Selection
		fresh, again, letter bool // e, replayed, stray
	}{
		"everything":        {dlq.Selection{Partition: -1}, true, true, true},
		"partition":         {dlq.Selection{Partition: 1}, true, true, true},
		"another partition": {dlq.Selection{Partition: 0}, false, false, false},
		"from it on":        {dlq.Selection{Partition: -1, From: 5}, true, true, true},
		"from behind it":    {dlq.Selection{Partition: -1, From: 6}, false, false, false},
		"before it":         {dlq.Selection{Partition: -1, To: 5}, false, false, false},
		"up to it":          {dlq.Selection{Partition: -1, To: 6}, true, true, true},
		"origin":            {dlq.Selection{Partition: -1, Origin: "orders"}, true, true, false},
		"another origin":    {dlq.Selection{Partition: -1, Origin: "order"}, false, false, false},
		"phase":             {dlq.Selection{Partition: -1, Phase: "process"}, true, true, false},
		"another phase":     {dlq.Selection{Partition: -1, Phase: "decode"}, false, false, false},
		"pending":           {dlq.Selection{Partition: -1, Pending: true}, true, false, false},
		"two at once":       {dlq.Selection{Partition: 1, Origin: "orders", Phase: "decode"}, false, false, false},
	} {
		require.Equal(t, c.fresh, c.s.Matches(e), name)
		require.Equal(t, c.again, c.s.Matches(replayed), name)
		require.Equal(t, c.letter, c.s.Matches(stray), name)
	}
	require.Equal(t, "1/5", e.Position())
	require.Equal(t, "orders[3]@42", e.Origin())
}
