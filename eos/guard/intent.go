package guard

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Intent is an effect that is to be performed, as it travels from the
// transaction that decided on it to the ledger.
type Intent struct {
	Effect string
	// Sum is what its mark is unique on.
	Sum Sum
	// Identity is that of the payload, derived when the intent was made and again
	// from the payload when it was read.
	Identity Identity
	// Origin is the record that it was made for, and Ordinal counts the intents of
	// the effect that this record made, from 0. The two have one key for good.
	Origin  Origin
	Ordinal int32
	Payload []byte
}

// By is what intents are partitioned by, and what keeps them in order: the
// source and the entity.
func (in Intent) By() string { return by(in.Identity.Key.Source(), in.Identity.Entity) }

func by(source, entity string) string {
	return string(appendPart(appendPart(nil, source), entity))
}

// The first byte of a record in a topic of intents.
const (
	schemeIntent  = 1
	schemeOutcome = 2
)

// ErrIntent: bytes are not an intent of this version.
var ErrIntent = errors.New("guard: not an intent")

// appendIntent writes everything but the name of the effect, which is that of its
// topic, and what follows from the key.
func appendIntent(dst []byte, in Intent) []byte {
	dst = append(dst, schemeIntent)
	dst = appendPart(dst, in.Identity.Key.clear)
	dst = append(dst, in.Identity.Fingerprint[:]...)
	dst = appendTime(dst, in.Identity.IssuedAt)
	dst = appendPart(dst, in.Origin.Topic)
	dst = append(dst, in.Origin.TopicID[:]...)
	dst = binary.BigEndian.AppendUint32(dst, uint32(in.Origin.Partition))
	dst = binary.BigEndian.AppendUint64(dst, uint64(in.Origin.Offset))
	dst = binary.BigEndian.AppendUint32(dst, uint32(in.Ordinal))
	return append(dst, in.Payload...)
}

// parseIntent is the inverse of appendIntent. Entity and the text of the key are
// not part of the bytes.
func parseIntent(b []byte) (Intent, error) {
	r := reader{rest: b}
	var in Intent
	if r.byte("scheme") != schemeIntent {
		return Intent{}, fmt.Errorf("%w: its scheme is unknown", ErrIntent)
	}
	in.Identity.Key.clear = r.part("key")
	r.fill("fingerprint", in.Identity.Fingerprint[:])
	in.Identity.IssuedAt = r.time("time")
	in.Origin.Topic = r.part("topic")
	r.fill("topic id", in.Origin.TopicID[:])
	in.Origin.Partition = int32(r.uint("partition", 4))
	in.Origin.Offset = int64(r.uint("offset", 8))
	in.Ordinal = int32(r.uint("ordinal", 4))
	in.Payload = r.rest
	return in, r.err
}
