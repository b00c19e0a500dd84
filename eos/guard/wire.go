package guard

import (
	"encoding/binary"
	"fmt"
	"time"
)

// reader takes fields off bytes; the first that is cut short is err, and every
// later one is zero.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) take(what string, n uint64) []byte {
	if r.err == nil && uint64(len(r.rest)) < n {
		r.err = fmt.Errorf("%w: its %s is cut short", ErrIntent, what)
	}
	if r.err != nil {
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) byte(what string) byte { return byte(r.uint(what, 1)) }

// uint reads a big-endian number of size bytes.
func (r *reader) uint(what string, size uint64) (n uint64) {
	for _, b := range r.take(what, size) {
		n = n<<8 | uint64(b)
	}
	return n
}

func (r *reader) fill(what string, to []byte) { copy(to, r.take(what, uint64(len(to)))) }

func (r *reader) part(what string) string {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		n, size = 1, len(r.rest) // cut short below
	}
	r.take(what, uint64(size))
	return string(r.take(what, n))
}

func (r *reader) time(what string) time.Time {
	if r.byte(what) == 0 {
		return time.Time{}
	}
	at := time.Unix(int64(r.uint(what, 8)), int64(r.uint(what, 4))).UTC()
	if r.err != nil || at.IsZero() {
		return time.Time{}
	}
	return at
}

func appendTime(dst []byte, at time.Time) []byte {
	if at.IsZero() {
		return append(dst, 0)
	}
	dst = binary.BigEndian.AppendUint64(append(dst, 1), uint64(at.Unix()))
	return binary.BigEndian.AppendUint32(dst, uint32(at.Nanosecond()))
}
