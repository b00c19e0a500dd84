// Package bench measures what weir costs and gains against the loop an expert
// writes by hand, on a real broker.
//
// Every contender is a process of its own, so that CPU time and peak memory are
// the operating system's figures, and the contenders of one table run in turn:
// forwards in one round, backwards in the next. What is judged is the ratio
// within a round, since these machines change speed from minute to minute.
//
// A throughput is counted by the committed offsets of the group at the start
// and at the end of the window, read by the measuring process: what a contender
// polled, or produced without committing, does not count. A latency is the time
// from the producer's stamp in a record to its arrival at a read_committed
// reader.
package bench
