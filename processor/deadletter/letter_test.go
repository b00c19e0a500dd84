package deadletter_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/processor/deadletter"
)

func input() (*kgo.Record, deadletter.Letter) {
	at := time.UnixMilli(1700000000123)
	r := &kgo.Record{
		Topic: "orders", Partition: 3, Offset: 42, Timestamp: at, Key: []byte("k"), Value: []byte("value"),
		Headers: []kgo.RecordHeader{{Key: "trace", Value: []byte("t1")}, {Key: "null"}},
	}
	return r, deadletter.Letter{
		Topic: "orders", TopicID: [16]byte{1, 2, 3}, Partition: 3, Offset: 42, Timestamp: at,
		Phase: "decode", Operator: "orders", Error: "value: bad", ApplicationID: "app",
		Time: time.Date(2024, 5, 6, 7, 8, 9, 10, time.UTC),
	}
}

func TestALetterKeepsItsRecordAndSaysWhereItCameFrom(t *testing.T) {
	t.Parallel()
	r, l := input()
	dead := deadletter.New("app-dlq", r, l, -1)
	require.Equal(t, "app-dlq", dead.Topic)
	require.Equal(t, r.Key, dead.Key)
	require.Equal(t, r.Value, dead.Value)
	require.Equal(t, r.Timestamp, dead.Timestamp)
	require.Equal(t, r.Headers, dead.Headers[:2])
	got, err := deadletter.Parse(dead.Headers)
	require.NoError(t, err)
	l.KeySchema = deadletter.KeySchema
	require.Equal(t, l, got)
}

func TestAReplayedRecordKeepsItsIdentityWhenItFailsAgain(t *testing.T) {
	t.Parallel()
	r, l := input()
	again, _, err := deadletter.Replay(deadletter.New("app-dlq", r, l, -1))
	require.NoError(t, err)
	require.Equal(t, "orders", again.Topic)
	require.Equal(t, r.Value, again.Value)

	second := l
	second.Offset, second.Partition = 900, 1
	got, err := deadletter.Parse(deadletter.New("app-dlq", again, second, -1).Headers)
	require.NoError(t, err)
	require.Equal(t, int64(42), got.Offset)
	require.Equal(t, int32(3), got.Partition)

	second.Topic = "downstream" // headers travelled on into another topic
	got, err = deadletter.Parse(deadletter.New("app-dlq", again, second, -1).Headers)
	require.NoError(t, err)
	require.Equal(t, int64(900), got.Offset)
}

func TestALargeValueIsCutAndAnErrorTextIsBounded(t *testing.T) {
	t.Parallel()
	r, l := input()
	l.Error = strings.Repeat("ü", deadletter.MaxErrorBytes)
	dead := deadletter.New("app-dlq", r, l, 3)
	require.Equal(t, "val", string(dead.Value))
	got, err := deadletter.Parse(dead.Headers)
	require.NoError(t, err)
	require.Equal(t, 5, got.ValueCutFrom)
	require.Equal(t, strings.Repeat("ü", deadletter.MaxErrorBytes/2), got.Error)
}

func TestOtherRecordsAreNotTakenForLetters(t *testing.T) {
	t.Parallel()
	_, err := deadletter.Parse(nil)
	require.EqualError(t, err, "deadletter: header weir.origin.topic is missing: not a dead letter")
}
