// Package rebalance proves that members that come, go and stand still lose and
// double nothing, waste few transactions, and do not stop partitions that stay
// where they are.
package rebalance
