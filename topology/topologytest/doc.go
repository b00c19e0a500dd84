// Package topologytest runs a topology in memory, without a broker and without
// waiting, for tests of an application's own logic.
//
//	d := topologytest.New(t, top)
//	lines := topologytest.NewInput(d, "lines", topology.String, topology.String)
//	words := topologytest.NewOutput(d, "words", topology.String, topology.String)
//	lines.Pipe("k", "to be")
//	got := words.Values() // "to", "be"
//
// What it shows is the outcome when nothing fails: transactions, rebalances and
// crashes are the processor's business and are not played here. A record that
// fails leaves no output, as in the processor.
package topologytest
