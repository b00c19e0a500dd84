package demo_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/internal/demo"
)

// history is four orders of two customers.
func history() []demo.Input {
	var inputs []demo.Input
	for n, key := range []string{"a", "a", "b", "a"} {
		inputs = append(inputs, demo.Input{Key: key, Order: demo.Order{Number: n, Cents: int64(100 * (n + 1))}})
	}
	return inputs
}

// bills are the outputs of the orders named, in this order in partition 0.
func bills(t *testing.T, inputs []demo.Input, numbers ...int) []demo.Output {
	t.Helper()
	var outputs []demo.Output
	for at, n := range numbers {
		bill, err := demo.Charge(inputs[n].Order)
		require.NoError(t, err)
		value, err := json.Marshal(bill)
		require.NoError(t, err)
		outputs = append(outputs, demo.Output{Offset: int64(at), Key: inputs[n].Key, Value: value})
	}
	return outputs
}

func TestEveryFaultIsCounted(t *testing.T) {
	t.Parallel()
	in := history()
	for name, c := range map[string]struct {
		outputs []int
		change  func([]demo.Output) []demo.Output
		want    demo.Count
	}{
		"clean":                   {outputs: []int{0, 1, 2, 3}},
		"keys between each other": {outputs: []int{2, 0, 1, 3}},
		"lost":                    {outputs: []int{0, 2, 3}, want: demo.Count{Losses: 1}},
		"nothing":                 {want: demo.Count{Losses: 4}},
		"doubled":                 {outputs: []int{0, 1, 1, 2, 3}, want: demo.Count{Duplicates: 1}},
		"three times":             {outputs: []int{0, 1, 2, 3, 0, 0}, want: demo.Count{Duplicates: 2}},
		"doubled and lost":        {outputs: []int{0, 1, 1, 3}, want: demo.Count{Duplicates: 1, Losses: 1}},
		"a stretch repeated":      {outputs: []int{0, 1, 2, 0, 1, 2, 3}, want: demo.Count{Duplicates: 3}},
		"reordered":               {outputs: []int{0, 3, 1, 2}, want: demo.Count{Reordered: 1}},
		"reordered by offset": {outputs: []int{0, 1, 2, 3}, want: demo.Count{Reordered: 1}, change: func(o []demo.Output) []demo.Output {
			o[0].Offset = 9
			return o
		}},
		"other key": {outputs: []int{0, 1, 2, 3}, want: demo.Count{Wrong: 1, Losses: 1}, change: func(o []demo.Output) []demo.Output {
			o[2].Key = "a"
			return o
		}},
		"other content": {outputs: []int{0, 1, 2, 3}, want: demo.Count{Wrong: 1, Losses: 1}, change: func(o []demo.Output) []demo.Output {
			o[1].Value = []byte(`{"order":1,"net":200,"tax":38,"gross":200}`)
			return o
		}},
		"no bill and no order": {outputs: []int{0, 1, 2, 3}, want: demo.Count{Wrong: 2}, change: func(o []demo.Output) []demo.Output {
			return append(o, demo.Output{Offset: 4, Key: "a", Value: []byte("x")}, demo.Output{Offset: 5, Key: "a", Value: []byte(`{"order":4}`)})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outputs := bills(t, in, c.outputs...)
			if c.change != nil {
				outputs = c.change(outputs)
			}
			c.want.Inputs, c.want.Outputs = len(in), len(outputs)
			require.Equal(t, c.want, demo.Judge(in, outputs))
		})
	}
}

func TestTheVerdictSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	clean := demo.Count{Inputs: 4, Outputs: 4}
	twice := demo.Count{Inputs: 4, Outputs: 5, Duplicates: 1}
	require.NoError(t, demo.Report{Weir: clean, Plain: twice, Kills: 5}.Verdict())
	for name, c := range map[string]struct {
		report demo.Report
		want   string
	}{
		"no load": {demo.Report{Plain: twice, Kills: 5}, "demonstrated nothing: no record was written"},
		"a duplicate": {
			demo.Report{Weir: twice, Plain: twice, Kills: 5},
			"weir failed: 1 duplicates, 0 losses, 0 out of order, 0 wrong in 5 outputs of 4 inputs",
		},
		"a loss": {
			demo.Report{Weir: demo.Count{Inputs: 4, Outputs: 3, Losses: 1}, Plain: twice, Kills: 5},
			"weir failed: 0 duplicates, 1 losses, 0 out of order, 0 wrong in 3 outputs of 4 inputs",
		},
		"an order": {
			demo.Report{Weir: demo.Count{Inputs: 4, Outputs: 4, Reordered: 1}, Plain: twice, Kills: 5},
			"weir failed: 0 duplicates, 0 losses, 1 out of order, 0 wrong in 4 outputs of 4 inputs",
		},
		"few kills": {
			demo.Report{Weir: clean, Plain: twice, Kills: 4},
			"demonstrated nothing: 4 kills, at least 5 are needed; try another --seed",
		},
		"a plain loop without a fault": {
			demo.Report{Weir: clean, Plain: clean, Kills: 6},
			"demonstrated nothing: 6 kills caused no duplicate in the plain loop; try another --seed or a higher --rate",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.EqualError(t, c.report.Verdict(), c.want)
		})
	}
}
