package guard

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Intent is an effect that is to be performed, as it travels from the
// transaction that decided on it to the delivery.
type Intent struct {
	Effect string
	// Identity is that of the payload when the intent was made. Of an effect that
	// is identified by origin the key is zero until the origin is known.
	Identity Identity
	Payload  []byte
}

// intentScheme is the first byte of an encoded intent.
const intentScheme = 1

// ErrIntent: bytes are not an intent of this version.
var ErrIntent = errors.New("guard: not an intent")

// appendIntent writes everything but the name of the effect, which is that of its
// topic: scheme, key, entity, fingerprint, time of issue, payload.
func appendIntent(dst []byte, in Intent) []byte {
	dst = append(dst, intentScheme)
	dst = appendPart(dst, in.Identity.Key.clear)
	dst = appendPart(dst, in.Identity.Entity)
	dst = append(dst, in.Identity.Fingerprint[:]...)
	at := in.Identity.IssuedAt
	if at.IsZero() {
		dst = append(dst, 0)
	} else {
		dst = append(dst, 1)
		dst = binary.BigEndian.AppendUint64(dst, uint64(at.Unix()))
		dst = binary.BigEndian.AppendUint32(dst, uint32(at.Nanosecond()))
	}
	return append(dst, in.Payload...)
}

// parseIntent is the inverse of appendIntent. The text of the key is not part of
// the bytes.
func parseIntent(b []byte) (in Intent, err error) {
	bad := func(what string) (Intent, error) { return Intent{}, fmt.Errorf("%w: %s", ErrIntent, what) }
	if len(b) == 0 || b[0] != intentScheme {
		return bad("its scheme is unknown")
	}
	b = b[1:]
	if in.Identity.Key.clear, b, err = cutPart(b); err != nil {
		return bad("its key is cut short")
	}
	if in.Identity.Entity, b, err = cutPart(b); err != nil {
		return bad("its entity is cut short")
	}
	if len(b) < len(in.Identity.Fingerprint)+1 {
		return bad("its fingerprint is cut short")
	}
	b = b[copy(in.Identity.Fingerprint[:], b):]
	timed := b[0]
	b = b[1:]
	switch {
	case timed == 0:
	case timed == 1 && len(b) >= 12:
		in.Identity.IssuedAt = time.Unix(int64(binary.BigEndian.Uint64(b)), int64(binary.BigEndian.Uint32(b[8:])))
		b = b[12:]
	default:
		return bad("its time is cut short")
	}
	in.Payload = b
	return in, nil
}

func cutPart(b []byte) (part string, rest []byte, err error) {
	n, size := binary.Uvarint(b)
	if size <= 0 || uint64(len(b)-size) < n {
		return "", nil, ErrIntent
	}
	return string(b[size : size+int(n)]), b[size+int(n):], nil
}
