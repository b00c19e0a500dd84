package topology

import "time"

// Header is one header of a record. A nil Value is a null header value, which
// Kafka tells from an empty one. Keys may repeat; order is kept.
type Header struct {
	Key   string
	Value []byte
}

// Origin names the input record that an operator works on.
type Origin struct {
	Topic     string
	TopicID   [16]byte // zero when the reader does not know it (KIP-516)
	Partition int32
	Offset    int64
}

// Record is one input record as it was read. A nil Key or Value is null; an
// empty one that is not nil is empty.
//
// [Runner.Process] and the operators only read it. Its slices are handed on to
// outputs (headers) and to serdes that do not copy ([Bytes]): the caller must
// not change them until the outputs are written.
type Record struct {
	Origin
	Key, Value []byte
	Headers    []Header
	Timestamp  time.Time
}

// Output is one record that a topology wants written. A nil Key or Value is
// null; an empty one that is not nil is empty.
//
// Topic is resolved: an internal topic carries the application id. Headers and
// Timestamp are those of the input unless an operator changed them; an intent has
// no headers.
type Output struct {
	Topic      string
	Key, Value []byte
	Headers    []Header
	Timestamp  time.Time
	// Sink is the name of the sink, repartition or emit operator that made it.
	Sink string
}
