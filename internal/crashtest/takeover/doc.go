// Package takeover measures how soon work goes on after a process died with an
// open transaction: by its successor with the same identity, and by another
// member.
package takeover
