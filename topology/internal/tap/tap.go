// Package tap is what topologytest sees of effects: their payloads are bytes
// that only the effect itself can read. It is internal, so that nothing but a
// driver of tests can have a tap.
package tap

// Tap is set on one Runner and belongs to its goroutine.
type Tap struct {
	// Payload is called with the payload of an intent, just before the output of
	// that intent is emitted. It must not be nil.
	Payload func(payload any)
	// Outcome, if not nil, is the Outcome[P] that is read instead of the value of
	// the next record of an outcomes topic. It is read once.
	Outcome any
}
