// Package plainloop holds the loops that people write by hand, for comparison:
// consume, produce, flush, commit (duplicates after a crash), the same with the
// commit first (losses after a crash), and franz-go's GroupTransactSession with
// its errors handled (neither).
//
// The tests kill them at random times and show that the checker tells the three
// apart.
package plainloop
