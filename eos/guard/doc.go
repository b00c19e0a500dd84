// Package guard is the boundary: what leaves Kafka passes through here, or not
// at all.
//
// An effect — a row, a charge, a mail — has an identity that its sender gave it
// ([Op], within the contract of a [Source]), a [Fingerprint] of what makes a
// repeat a conflict, and a class that says how it comes to happen once and what
// is done when nobody knows whether it did.
//
// The package is pure: it has no client and no driver, and the time is given to
// it. It computes identities ([Event.Of]) and decides what becomes of an effect;
// the folders below carry that out.
//
// Not covered, in any class: an effect that a program performs beside the guard,
// and a sender that gives one operation two identities.
package guard
