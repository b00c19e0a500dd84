// Package topologytest runs a topology in memory, without a broker and without
// waiting, for tests of an application's own logic.
//
//	d := topologytest.New(t, top)
//	lines := topologytest.NewInput(d, "lines", topology.String, topology.String)
//	words := topologytest.NewOutput(d, "words", topology.String, topology.String)
//	lines.Pipe("k", "to be")
//	got := words.Values() // "to", "be"
//
// Effects are captured, not performed: a test reads what was asked for and says
// how it ended.
//
//	charge := topologytest.NewEffect(d, chargeEffect)
//	orders.Pipe("ann", Order{Cents: 500})
//	got := charge.Payloads() // Order{Cents: 500}
//	charge.Pipe("ann", topology.Outcome[Order]{Payload: got[0], State: "done"})
//
// What it shows is the outcome when nothing fails: transactions, rebalances and
// crashes are the processor's business and are not played here. A record that
// fails leaves no output, as in the processor.
package topologytest
