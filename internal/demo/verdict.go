package demo

import (
	"cmp"
	"encoding/json"
	"slices"
)

// Output is a record of an output topic as a read_committed reader sees it.
type Output struct {
	Partition int32
	Offset    int64
	Key       string
	Value     []byte
}

// Count is what was found in one output topic.
type Count struct {
	Inputs  int
	Outputs int
	// Duplicates are surplus copies, Losses inputs without any output.
	Duplicates int
	Losses     int
	// Reordered are outputs whose first copy stands behind the first copy of a
	// later order of the same key.
	Reordered int
	// Wrong are outputs that no input causes: a number that is unknown,
	// another key, another content.
	Wrong int
}

// Clean is true when every input has its output once and in order.
func (c Count) Clean() bool {
	return c.Duplicates == 0 && c.Losses == 0 && c.Reordered == 0 && c.Wrong == 0
}

// Judge compares outputs, in any order, with what the inputs, numbered from 0,
// have to cause.
func Judge(inputs []Input, outputs []Output) Count {
	outputs = slices.SortedFunc(slices.Values(outputs), func(a, b Output) int {
		return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset))
	})
	c := Count{Inputs: len(inputs), Outputs: len(outputs)}
	copies := make([]int, len(inputs))
	newest := map[string]int{} // key -> the highest number seen
	for _, out := range outputs {
		n, ok := causedBy(inputs, out)
		if !ok {
			c.Wrong++
			continue
		}
		if copies[n]++; copies[n] > 1 {
			c.Duplicates++
			continue
		}
		if before, seen := newest[out.Key]; seen && n < before {
			c.Reordered++
			continue
		}
		newest[out.Key] = n
	}
	for _, n := range copies {
		if n == 0 {
			c.Losses++
		}
	}
	return c
}

// causedBy is the number of the input whose output out is.
func causedBy(inputs []Input, out Output) (int, bool) {
	var got Bill
	if json.Unmarshal(out.Value, &got) != nil || got.Number < 0 || got.Number >= len(inputs) {
		return 0, false
	}
	in := inputs[got.Number]
	want, err := Charge(in.Order)
	return got.Number, err == nil && got == want && out.Key == in.Key
}
