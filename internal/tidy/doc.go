// Package tidy holds rules about the source of this module that no compiler
// checks: import directions, sizes, comments, calls that hide waiting or
// skipping, and documents that agree with the code.
//
// A rule is a pure function from a [Tree] to its [Fault]s. The package's tests
// run every rule on the module itself and on a small bad example, so that each
// rule is known to be able to fail.
//
// Nothing is shelled out to: `go list` reads files that the test cache does not
// know of, and a cached result then passes after a rule was broken.
package tidy
