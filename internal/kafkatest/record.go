package kafkatest

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Record is what a reader saw. Both readers fill it alike, so that their
// results can be compared: nil is Kafka's null, an empty slice is empty.
type Record struct {
	Topic           string
	Partition       int32
	Offset          int64
	TimestampMillis int64
	Key, Value      []byte
	Headers         []Header // nil if there are none
}

// Header is a record header; keys may repeat.
type Header struct {
	Key   string
	Value []byte
}

func sortRecords(records []Record) {
	slices.SortFunc(records, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset))
	})
}

// Produce writes records outside any transaction, waits for all
// acknowledgements (acks=all) and fails the test on the first error. A record's
// Partition field is used as it is, so that the test decides where it goes.
func (c *Cluster) Produce(t testing.TB, records ...*kgo.Record) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), opTimeout)
	defer cancel()
	client := c.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err := client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		t.Fatalf("kafkatest: produce %d records: %v", len(records), err)
	}
}
