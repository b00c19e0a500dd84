// Package demo is weir demo: workers that are processes are killed with SIGKILL
// while records flow, and what they left in Kafka is counted.
//
//	load -> orders topic -> weir workers  -> bills topic  \
//	                     -> plain workers -> bills topic  -> read and counted here
//
// Two fleets read the same orders. One runs a weir processor, the other a loop
// as it is written by hand: poll, produce, flush, commit. Both commit every 100 ms. A kill hits the worker
// of the same number in both fleets. Both have the same transform, client
// library, static membership, session time-out, partition assignment and commit
// interval; they
// differ in their transactions only.
//
// Nothing is believed that a worker says: records are counted in this process,
// by a reader of its own, over the output topics. Only the number of committed,
// aborted and unknown transactions is what the workers reported while they lived.
package demo
