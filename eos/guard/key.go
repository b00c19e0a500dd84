package guard

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
)

// Key is the identity of one operation: source, entity, action and version, each
// with its length in front, so that no two operations share one. Only an [Event]
// makes it. The zero Key is refused everywhere with [ErrNoKey].
//
// Keys can be compared with ==.
type Key struct{ clear string }

// keyScheme is the first byte of every key. Another way to make keys takes
// another one: keys are kept for as long as a horizon.
type keyScheme byte

const (
	keyOfOp     keyScheme = 1
	keyOfOrigin keyScheme = 2
)

// Origin is the place of an input record in Kafka. TopicID, not the name of the
// topic, is part of the identity: a topic that is made anew starts over.
type Origin struct {
	TopicID   [16]byte
	Topic     string
	Partition int32
	Offset    int64
}

// String is "topic[partition]@offset".
func (o Origin) String() string { return fmt.Sprintf("%s[%d]@%d", o.Topic, o.Partition, o.Offset) }

func keyOf(source string, op Op) Key {
	b := []byte{byte(keyOfOp)}
	for _, part := range []string{source, op.entity, op.action, string(op.version.kind) + op.version.text} {
		b = appendPart(b, part)
	}
	return Key{string(b)}
}

func keyOfRecord(source, action string, o Origin) Key {
	b := []byte{byte(keyOfOrigin)}
	b = appendPart(appendPart(b, source), action)
	b = append(b, o.TopicID[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(o.Partition))
	b = binary.BigEndian.AppendUint64(b, uint64(o.Offset))
	return Key{string(b)}
}

// ParseKey is the inverse of [Key.Bytes], for ledgers. The error matches
// [ErrNoKey].
func ParseKey(b []byte) (Key, error) {
	k := Key{string(b)}
	if _, err := k.read(); err != nil {
		return Key{}, fmt.Errorf("%w: %w", ErrNoKey, err)
	}
	return k, nil
}

// read takes a key apart. The text is that of String.
func (k Key) read() (text string, err error) {
	r := reader{rest: []byte(k.clear)}
	switch scheme := keyScheme(r.byte("scheme")); scheme {
	case keyOfOp:
		source, entity, action, version := r.part("source"), r.part("entity"), r.part("action"), r.part("version")
		v := Version{}
		if version != "" {
			v = Version{kind: versionKind(version[0]), text: version[1:]}
		}
		text = source + "/" + shown(entity) + "/" + shown(action) + "/" + v.String()
	case keyOfOrigin:
		source, action, id := r.part("source"), r.part("action"), r.take("topic id", 16)
		o := Origin{Topic: base64.RawURLEncoding.EncodeToString(id), Partition: int32(r.uint("partition", 4)), Offset: int64(r.uint("offset", 8))}
		text = source + "/" + shown(action) + "/origin " + o.String()
	default:
		return "", fmt.Errorf("a key of scheme %d", scheme)
	}
	if r.err == nil && len(r.rest) > 0 {
		return "", fmt.Errorf("%d bytes too many", len(r.rest))
	}
	return text, r.err
}

// Source is the name of the source: its first part.
func (k Key) Source() string {
	r := reader{rest: []byte(k.clear)}
	r.byte("scheme")
	return r.part("source")
}

func appendPart(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// Bytes is the whole identity: what intents carry and ledgers keep. It is never
// empty for a Key that an Event made.
func (k Key) Bytes() []byte { return []byte(k.clear) }

// String is the identity for people: "shop/order-7/charge/seq 3". An origin is
// shown with the id of its topic, as Kafka writes it.
func (k Key) String() string {
	text, err := k.read()
	if err != nil {
		return "no key"
	}
	return text
}

// Sum is the identity of the operation as one effect performs it: what marks are
// unique on, and what a remote is given. Two effects of one operation have two.
func (k Key) Sum(effect string) (Sum, error) {
	if k.clear == "" {
		return Sum{}, ErrNoKey
	}
	return sha256.Sum256([]byte(string(appendPart(nil, effect)) + k.clear)), nil
}

// ErrNoKey: an effect was asked for with a zero [Key]. Nothing was performed.
var ErrNoKey = errors.New("guard: the effect has no key: only an Event makes one")

// Sum is a SHA-256 of effect and key.
type Sum [sha256.Size]byte

// String is 64 hexadecimal digits.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// UUID is the first 16 bytes as a UUID of version 8 (RFC 9562), for remotes that
// take nothing else.
func (s Sum) UUID() string {
	u := [16]byte(s[:16])
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	h := hex.EncodeToString(u[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
