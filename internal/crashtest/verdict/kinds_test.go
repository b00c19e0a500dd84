package verdict_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/internal/crashtest/verdict"
)

// copyOracle expects each input once in topic out, under the same key.
func copyOracle(in verdict.Record) []verdict.Out {
	return []verdict.Out{{Topic: "out", Key: in.Key, Value: in.Value}}
}

func rec(topic string, partition int32, offset int64, key, value string) verdict.Record {
	return verdict.Record{Topic: topic, Partition: partition, Offset: offset, Key: []byte(key), Value: []byte(value)}
}

// right is a small run without a fault: two input partitions, one output
// partition, control records (the gaps) between the transactions.
func right() verdict.Evidence {
	outs := func() []verdict.Record {
		return []verdict.Record{
			rec("out", 0, 0, "k", "0-0"), rec("out", 0, 1, "k", "1-0"), rec("out", 0, 3, "k", "0-1"),
			rec("out", 0, 5, "j", "0-2"), rec("out", 0, 6, "k", "1-1"),
		}
	}
	return verdict.Evidence{
		Inputs: []verdict.Record{
			rec("in", 0, 0, "k", "0-0"), rec("in", 0, 1, "k", "0-1"), rec("in", 0, 2, "j", "0-2"),
			rec("in", 1, 0, "k", "1-0"), rec("in", 1, 1, "k", "1-1"),
		},
		Oracle:  copyOracle,
		Readers: [2][]verdict.Record{outs(), outs()},
		Committed: map[verdict.TopicPartition]int64{
			{Topic: "in", Partition: 0}: 3, {Topic: "in", Partition: 1}: 2,
		},
		Ends: map[verdict.TopicPartition]verdict.End{
			{Topic: "in", Partition: 0}: {Data: 3, Log: 3}, {Topic: "in", Partition: 1}: {Data: 2, Log: 2},
			{Topic: "in", Partition: 2}: {}, // empty: needs no offset
		},
	}
}

// both replaces what both readers saw.
func both(e *verdict.Evidence, outputs ...verdict.Record) {
	e.Readers = [2][]verdict.Record{outputs, append([]verdict.Record(nil), outputs...)}
}

func TestARightRunIsClean(t *testing.T) {
	v := verdict.Check(right())
	require.True(t, v.Clean(), v.String())
	require.Equal(t, "5 inputs, 5 of 5 outputs: clean", v.String())
	require.Zero(t, v.Unordered)
}

// spoiled is the right run broken in one way, which must be told as just that.
type spoiled struct {
	name   string
	spoil  func(e *verdict.Evidence)
	kind   verdict.Kind
	count  int
	first  verdict.Record
	detail string
}

// spoiledOutputs are runs whose output topics are wrong.
func spoiledOutputs() []spoiled {
	return []spoiled{
		{
			"an output is lost",
			func(e *verdict.Evidence) { o := e.Readers[0]; both(e, o[0], o[1], o[3], o[4]) },
			verdict.Missing, 1, rec("in", 0, 1, "k", "0-1"),
			`output to out key "k" value "0-1" of input in[0]@1 key "k"`,
		},
		{
			"everything is lost",
			func(e *verdict.Evidence) { both(e) },
			verdict.Missing, 5, rec("in", 0, 0, "k", "0-0"),
			`output to out key "k" value "0-0" of input in[0]@0 key "k"`,
		},
		{
			"a stretch is repeated",
			func(e *verdict.Evidence) {
				both(e, append(e.Readers[0], rec("out", 0, 8, "k", "0-1"), rec("out", 0, 9, "j", "0-2"))...)
			},
			verdict.Duplicated, 2, rec("out", 0, 8, "k", "0-1"),
			`out[0]@8 key "k" value "0-1", caused by in[0]@1 key "k"`,
		},
		{
			"a copy in another partition",
			func(e *verdict.Evidence) { both(e, append(e.Readers[0], rec("out", 1, 0, "k", "0-0"))...) },
			verdict.Duplicated, 1, rec("out", 1, 0, "k", "0-0"),
			`out[1]@0 key "k" value "0-0", caused by in[0]@0 key "k"`,
		},
		{
			"an output that no input causes",
			func(e *verdict.Evidence) { both(e, append(e.Readers[0], rec("out", 0, 7, "k", "x"))...) },
			verdict.Unexpected, 1, rec("out", 0, 7, "k", "x"), `out[0]@7 key "k" value "x"`,
		},
		{
			"two outputs of one key change places",
			func(e *verdict.Evidence) {
				o := e.Readers[0]
				o[0].Value, o[2].Value = o[2].Value, o[0].Value
				both(e, o...)
			},
			verdict.OutOfOrder, 1, rec("out", 0, 3, "k", "0-0"),
			`out[0]@3 key "k" value "0-0", after offset 0 value "0-1"`,
		},
	}
}

// spoiledReaders are runs that two readers tell differently.
func spoiledReaders() []spoiled {
	return []spoiled{
		{
			"one reader sees less",
			func(e *verdict.Evidence) { e.Readers[1] = e.Readers[1][:4] },
			verdict.ReadersDisagree, 1, rec("out", 0, 6, "k", "1-1"),
			`out[0]@6 key "k" seen by the first reader only`,
		},
		{
			"one reader sees more",
			func(e *verdict.Evidence) { e.Readers[1] = append(e.Readers[1], rec("out", 0, 9, "k", "0-0")) },
			verdict.ReadersDisagree, 1, rec("out", 0, 9, "k", "0-0"),
			`out[0]@9 key "k" seen by the second reader only`,
		},
		{
			"one reader takes null for empty",
			func(e *verdict.Evidence) {
				e.Inputs[0].Value = nil
				e.Readers[0][0].Value = nil
				e.Readers[1][0].Value = []byte{}
			},
			verdict.ReadersDisagree, 1,
			verdict.Record{Topic: "out", Key: []byte("k")},
			`out[0]@0 key "k" value null, by the second reader key "k" value ""`,
		},
	}
}

// spoiledState are runs whose outputs are right and that have not ended well.
func spoiledState() []spoiled {
	in0 := verdict.TopicPartition{Topic: "in", Partition: 0}
	return []spoiled{
		{
			"an offset behind",
			func(e *verdict.Evidence) { e.Committed[in0] = 2 },
			verdict.OffsetsNotAtEnd, 1,
			verdict.Record{Topic: "in", Offset: 2},
			"in[0] committed 2, its data ends at 3",
		},
		{
			"an offset beyond the log",
			func(e *verdict.Evidence) { e.Committed[in0] = 4 },
			verdict.OffsetsNotAtEnd, 1,
			verdict.Record{Topic: "in", Offset: 4},
			"in[0] committed 4, past the log's end 3",
		},
		{
			"no offset",
			func(e *verdict.Evidence) { e.Committed = nil },
			verdict.OffsetsNotAtEnd, 2,
			verdict.Record{Topic: "in", Offset: -1},
			"in[0] has no committed offset, its data ends at 3",
		},
		{
			"an offset behind and no ends given",
			func(e *verdict.Evidence) { e.Committed[in0] = 2; e.Ends = nil },
			verdict.OffsetsNotAtEnd, 1,
			verdict.Record{Topic: "in", Offset: 2},
			"in[0] committed 2, its data ends at 3",
		},
		{
			"a transaction left open",
			func(e *verdict.Evidence) {
				e.Open = []verdict.OpenTransaction{{TransactionalID: "b", State: "Ongoing"}, {TransactionalID: "a", State: "PrepareCommit"}}
			},
			verdict.OpenTransactions, 2,
			verdict.Record{},
			"a is PrepareCommit",
		},
	}
}

func TestEachKindIsFoundAlone(t *testing.T) {
	for _, c := range slices.Concat(spoiledOutputs(), spoiledReaders(), spoiledState()) {
		t.Run(c.name, func(t *testing.T) {
			e := right()
			c.spoil(&e)
			v := verdict.Check(e)
			require.False(t, v.Clean())
			for _, k := range verdict.Kinds() {
				if k != c.kind {
					require.Zero(t, v.Of(k).Count, "%v: %v", k, v)
				}
			}
			require.Equal(t, verdict.Finding{Count: c.count, First: c.first, Detail: c.detail}, v.Of(c.kind))
			require.Contains(t, v.String(), c.kind.String()+" (first: "+c.detail+")")
		})
	}
}
