package verdict_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/internal/crashtest/verdict"
)

// histories is the number of random runs that each mutation is tried on.
const histories = 300

// twoOracle causes 0 to 2 outputs, by the offset, with values that name the
// input.
func twoOracle(in verdict.Record) []verdict.Out {
	var outs []verdict.Out
	for i := range in.Offset % 3 {
		outs = append(outs, verdict.Out{Topic: "out", Key: in.Key, Value: fmt.Appendf(nil, "%s/%d", in.Value, i)})
	}
	return outs
}

// history makes a random run without a fault: input partitions that advance in
// random turns, stretches of control records, outputs placed by key.
func history(rng *rand.Rand) verdict.Evidence {
	e := verdict.Evidence{Oracle: twoOracle, Committed: map[verdict.TopicPartition]int64{}, Ends: map[verdict.TopicPartition]verdict.End{}}
	partitions, outPartitions := 1+rng.IntN(4), 1+rng.IntN(3)
	next := make([]int64, partitions)
	outNext := make([]int64, outPartitions)
	for range 20 + rng.IntN(60) {
		p := rng.IntN(partitions)
		in := rec("in", int32(p), next[p], fmt.Sprintf("k%d", rng.IntN(4)), fmt.Sprintf("%d-%d", p, next[p]))
		next[p]++
		e.Inputs = append(e.Inputs, in)
		for _, out := range twoOracle(in) {
			to := int(out.Key[1]) % outPartitions
			outNext[to] += int64(rng.IntN(2)) // a control record or not
			e.Readers[0] = append(e.Readers[0], verdict.Record{
				Topic: out.Topic, Partition: int32(to), Offset: outNext[to], Key: out.Key, Value: out.Value,
			})
			outNext[to]++
		}
	}
	for p, n := range next {
		tp := verdict.TopicPartition{Topic: "in", Partition: int32(p)}
		e.Committed[tp] = n
		e.Ends[tp] = verdict.End{Data: n, Log: n}
	}
	e.Readers[1] = slices.Clone(e.Readers[0])
	return e
}

// place puts a record behind a random one of its partition and moves the rest
// up. It returns the new log.
func place(rng *rand.Rand, log []verdict.Record, r verdict.Record, from int) []verdict.Record {
	i := from + rng.IntN(len(log)-from)
	r.Topic, r.Partition, r.Offset = log[i].Topic, log[i].Partition, log[i].Offset+1
	log = slices.Clone(log)
	for j := range log {
		if log[j].Partition == r.Partition && log[j].Offset >= r.Offset {
			log[j].Offset++
		}
	}
	return append(log, r)
}

// sameKeyPair finds two outputs of one key, one output partition and one input
// partition at random.
func sameKeyPair(rng *rand.Rand, log []verdict.Record) (i, j int, ok bool) {
	for range 1000 {
		i, j = rng.IntN(len(log)), rng.IntN(len(log))
		if i != j && string(log[i].Key) == string(log[j].Key) && log[i].Partition == log[j].Partition &&
			log[i].Value[0] == log[j].Value[0] { // the value starts with the input partition
			return i, j, true
		}
	}
	return 0, 0, false
}

// mutation spoils a run so that one kind must be found. False means that this
// run has no place for it.
type mutation struct {
	name  string
	kind  verdict.Kind
	spoil func(*rand.Rand, *verdict.Evidence) bool
}

func mutations() []mutation {
	return []mutation{
		{"drop", verdict.Missing, drop},
		{"dup", verdict.Duplicated, dup},
		{"swap", verdict.OutOfOrder, swap},
		{"foreign", verdict.Unexpected, foreign},
		{"half blind", verdict.ReadersDisagree, halfBlind},
		{"offset", verdict.OffsetsNotAtEnd, moveOffset},
		{"open", verdict.OpenTransactions, leaveOpen},
	}
}

func drop(rng *rand.Rand, e *verdict.Evidence) bool {
	i := rng.IntN(len(e.Readers[0]))
	both(e, slices.Delete(slices.Clone(e.Readers[0]), i, i+1)...)
	return true
}

func dup(rng *rand.Rand, e *verdict.Evidence) bool {
	i := rng.IntN(len(e.Readers[0]))
	both(e, place(rng, e.Readers[0], e.Readers[0][i], i)...)
	return true
}

func swap(rng *rand.Rand, e *verdict.Evidence) bool {
	log := slices.Clone(e.Readers[0])
	i, j, ok := sameKeyPair(rng, log)
	if ok {
		log[i].Value, log[j].Value = log[j].Value, log[i].Value
		both(e, log...)
	}
	return ok
}

func foreign(rng *rand.Rand, e *verdict.Evidence) bool {
	both(e, place(rng, e.Readers[0], rec("", 0, 0, "k0", "foreign"), 0)...)
	return true
}

func halfBlind(rng *rand.Rand, e *verdict.Evidence) bool {
	i := rng.IntN(len(e.Readers[1]))
	e.Readers[1] = slices.Delete(slices.Clone(e.Readers[1]), i, i+1)
	return true
}

func moveOffset(rng *rand.Rand, e *verdict.Evidence) bool {
	in := e.Inputs[rng.IntN(len(e.Inputs))]
	tp := verdict.TopicPartition{Topic: in.Topic, Partition: in.Partition}
	e.Committed[tp] = []int64{in.Offset, e.Ends[tp].Log + 1 + rng.Int64N(9)}[rng.IntN(2)]
	return true
}

func leaveOpen(_ *rand.Rand, e *verdict.Evidence) bool {
	e.Open = append(e.Open, verdict.OpenTransaction{TransactionalID: "app/0/0/0", State: "Ongoing"})
	return true
}

func TestAnyMutationOfARightRunIsFoundAsItsKind(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed=%d", seed)
	for _, m := range mutations() {
		t.Run(m.name, func(t *testing.T) {
			tried := 0
			for n := range uint64(histories) {
				rng := rand.New(rand.NewPCG(seed, n))
				e := history(rng)
				v := verdict.Check(e)
				require.True(t, v.Clean(), "seed %d history %d: %v", seed, n, v)
				if !m.spoil(rng, &e) {
					continue
				}
				tried++
				v = verdict.Check(e)
				for _, k := range verdict.Kinds() {
					if k == m.kind {
						require.NotZero(t, v.Of(k).Count, "seed %d history %d: %v", seed, n, v)
					} else {
						require.Zero(t, v.Of(k).Count, "seed %d history %d: %v", seed, n, v)
					}
				}
				if m.kind != verdict.OutOfOrder { // one swap can put many behind a later one
					require.Equal(t, 1, v.Of(m.kind).Count, "seed %d history %d: %v", seed, n, v)
				}
			}
			require.Greater(t, tried, histories/2)
		})
	}
}
