package verdict

import "slices"

// expectation is what the inputs have to cause. Outputs are told apart by
// topic, key and value.
type expectation struct {
	byIdentity map[string]*expected
	inOrder    []*expected // by their first cause
	total      int         // outputs
	unordered  int         // outputs whose place in the order cannot be told
}

// expected is one identity with the places in the order where it has to appear,
// once for each.
type expected struct {
	out    Out
	causes []cause // in input order
	seen   int     // copies found so far
}

// cause is the input of an output and the output's rank among all outputs of
// that input's partition.
type cause struct {
	input Record
	rank  int
}

// ambiguous is true when equal outputs come from more than one input partition:
// which copy is whose cannot be told, so none is held to an order.
func (x *expected) ambiguous() bool {
	first := x.causes[0].input
	for _, c := range x.causes[1:] {
		if c.input.Topic != first.Topic || c.input.Partition != first.Partition {
			return true
		}
	}
	return false
}

// expect asks the oracle about every input, in log order.
func expect(inputs []Record, oracle Oracle) *expectation {
	want := &expectation{byIdentity: map[string]*expected{}}
	ranks := map[TopicPartition]int{}
	for _, in := range inputs {
		tp := TopicPartition{Topic: in.Topic, Partition: in.Partition}
		for _, out := range oracle(in) {
			id := identity(out.Topic, out.Key, out.Value)
			x := want.byIdentity[id]
			if x == nil {
				x = &expected{out: out}
				want.byIdentity[id] = x
				want.inOrder = append(want.inOrder, x)
			}
			x.causes = append(x.causes, cause{input: in, rank: ranks[tp]})
			ranks[tp]++
			want.total++
		}
	}
	for _, x := range want.inOrder {
		if x.ambiguous() {
			want.unordered += len(x.causes)
		}
	}
	return want
}

// stream is what has to be in order: the outputs of one key in one output
// partition that come from one input partition.
type stream struct {
	output TopicPartition
	key    string
	input  TopicPartition
}

// last is the output of a stream with the highest rank so far.
type last struct {
	rank   int
	record Record
}

// match goes through the outputs in log order. Of equal ones the first copies
// count and hold the order; the rest is surplus. A consumer that is restarted
// repeats a stretch of its output: that is so many duplicates and no disorder.
func (want *expectation) match(v *Verdict, outputs []Record) {
	highest := map[stream]last{}
	for _, got := range outputs {
		x := want.byIdentity[identity(got.Topic, got.Key, got.Value)]
		if x == nil {
			v.add(Unexpected, got, "%s value %s", at(got), text(got.Value))
			continue
		}
		if x.seen++; x.seen > len(x.causes) {
			v.add(Duplicated, got, "%s value %s, caused by %s", at(got), text(got.Value), at(x.causes[len(x.causes)-1].input))
			continue
		}
		if x.ambiguous() {
			continue
		}
		c := x.causes[x.seen-1]
		s := stream{
			output: TopicPartition{Topic: got.Topic, Partition: got.Partition},
			key:    identity("", got.Key, nil),
			input:  TopicPartition{Topic: c.input.Topic, Partition: c.input.Partition},
		}
		if before, ok := highest[s]; ok && c.rank < before.rank {
			v.add(OutOfOrder, got, "%s value %s, after offset %d value %s",
				at(got), text(got.Value), before.record.Offset, text(before.record.Value))
			continue
		}
		highest[s] = last{rank: c.rank, record: got}
	}
}

// missing counts, after match, what was expected and not found. Of equal
// outputs the last ones are the missing ones.
func (want *expectation) missing(v *Verdict) {
	type loss struct {
		out   Out
		input Record
	}
	var losses []loss
	for _, x := range want.inOrder {
		for i := x.seen; i < len(x.causes); i++ {
			losses = append(losses, loss{out: x.out, input: x.causes[i].input})
		}
	}
	slices.SortStableFunc(losses, func(a, b loss) int { return byPlace(a.input, b.input) })
	for _, l := range losses {
		v.add(Missing, l.input, "output to %s key %s value %s of input %s",
			l.out.Topic, text(l.out.Key), text(l.out.Value), at(l.input))
	}
}
