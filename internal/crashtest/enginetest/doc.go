// Package enginetest is the worker process that several proofs share: an
// engine (package eos) with a pure transform, and the stage around it: topics,
// a proxy, input, and two ways to watch from outside while it works.
//
// The worker notes every event of the engine with its time, so that a test can
// tell that a fault was met and what the engine said about it.
package enginetest
