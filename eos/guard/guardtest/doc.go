// Package guardtest holds what tests of the boundary share: a suite that every
// ledger has to pass, and simulators of what is on the other side.
package guardtest
