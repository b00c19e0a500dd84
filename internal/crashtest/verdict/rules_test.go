package verdict_test

import (
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/internal/crashtest/verdict"
)

func TestAnOffsetAmongTheLastControlRecordsIsAtTheEnd(t *testing.T) {
	in0 := verdict.TopicPartition{Topic: "in", Partition: 0}
	for next, clean := range map[int64]bool{2: false, 3: true, 4: true, 5: true, 6: false} {
		e := right()
		e.Ends[in0] = verdict.End{Data: 3, Log: 5}
		e.Committed[in0] = next
		require.Equal(t, clean, verdict.Check(e).Clean(), "committed %d", next)
	}
}

func TestAnInputMayCauseNoneOrManyOutputs(t *testing.T) {
	e := right()
	e.Inputs = e.Inputs[:3] // partition 0 only
	e.Oracle = func(in verdict.Record) []verdict.Out {
		switch in.Offset {
		case 0:
			return nil
		case 1:
			return []verdict.Out{{Topic: "out", Key: in.Key, Value: []byte("a")}, {Topic: "other", Key: in.Key}}
		}
		return []verdict.Out{{Topic: "out", Key: in.Key, Value: []byte("b")}, {Topic: "out", Key: in.Key, Value: []byte("c")}}
	}
	both(&e, rec("out", 0, 0, "k", "a"), verdict.Record{Topic: "other", Key: []byte("k")},
		rec("out", 1, 0, "j", "b"), rec("out", 1, 1, "j", "c"))
	v := verdict.Check(e)
	require.True(t, v.Clean(), v.String())

	e.Readers[0][2].Value, e.Readers[0][3].Value = []byte("c"), []byte("b")
	e.Readers[1] = e.Readers[0]
	require.Equal(t, 1, verdict.Check(e).Of(verdict.OutOfOrder).Count, "outputs of one input have an order, too")
}

// Equal outputs of one input partition are counted and ordered one by one; those
// of several cannot be told apart and are only counted.
func TestEqualOutputs(t *testing.T) {
	e := right()
	e.Oracle = func(in verdict.Record) []verdict.Out {
		return []verdict.Out{{Topic: "out", Key: in.Key, Value: []byte("same")}}
	}
	outs := []verdict.Record{
		rec("out", 0, 0, "k", "same"), rec("out", 0, 1, "k", "same"), rec("out", 0, 2, "k", "same"),
		rec("out", 0, 3, "k", "same"), rec("out", 0, 4, "j", "same"),
	}
	both(&e, outs...)
	v := verdict.Check(e)
	require.True(t, v.Clean(), v.String())
	require.Equal(t, 4, v.Unordered)

	both(&e, outs[1:]...)
	require.Equal(t, 1, verdict.Check(e).Of(verdict.Missing).Count)
	both(&e, append(outs, rec("out", 0, 5, "k", "same"))...)
	require.Equal(t, 1, verdict.Check(e).Of(verdict.Duplicated).Count)
}

func TestNullAndEmptyAreTwoOutputs(t *testing.T) {
	e := right()
	e.Inputs = []verdict.Record{{Topic: "in", Key: []byte("k")}}
	e.Committed = map[verdict.TopicPartition]int64{{Topic: "in"}: 1}
	e.Ends = nil
	both(&e, verdict.Record{Topic: "out", Key: []byte("k"), Value: []byte{}})
	v := verdict.Check(e)
	require.Equal(t, 1, v.Of(verdict.Missing).Count)
	require.Equal(t, 1, v.Of(verdict.Unexpected).Count)
}

// Topic, key and value are compared part by part, not run together.
func TestPartsDoNotRunTogether(t *testing.T) {
	e := right()
	e.Inputs = []verdict.Record{rec("in", 0, 0, "ab", "c")}
	e.Committed = map[verdict.TopicPartition]int64{{Topic: "in"}: 1}
	e.Ends = nil
	both(&e, rec("out", 0, 0, "a", "bc"))
	v := verdict.Check(e)
	require.Equal(t, 1, v.Of(verdict.Missing).Count)
	require.Equal(t, 1, v.Of(verdict.Unexpected).Count)
}

func TestRecordsMayComeInAnyOrder(t *testing.T) {
	e := right()
	for _, r := range [][]verdict.Record{e.Readers[0], e.Inputs} {
		r[0], r[len(r)-1] = r[len(r)-1], r[0]
	}
	v := verdict.Check(e)
	require.True(t, v.Clean(), v.String())
}

// What judges shares no code with what is judged, nor with what gathers the
// evidence.
func TestTheCheckerImportsTheStandardLibraryOnly(t *testing.T) {
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	read := 0
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		require.NoError(t, err)
		read++
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			require.NotContains(t, path, ".", "%s imports it", name)
		}
	}
	require.NotZero(t, read)
}
