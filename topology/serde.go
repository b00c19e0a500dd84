package topology

// Serde turns values of one type into the bytes of a key or value and back.
//
// nil bytes are null; bytes of length 0 that are not nil are empty. A serde that
// has no value for null returns [ErrNull] from Decode.
//
// One serde is used by many goroutines at once: implementations must be safe
// for that. A serde that can be compared with == (a struct without slices,
// maps or functions) lets [Source] see that two calls mean the same thing.
type Serde[T any] interface {
	// Append appends the bytes of v to dst and returns the longer slice, or
	// returns nil for null. dst is empty and not nil; an empty result must not
	// be nil. Append must not keep dst.
	Append(dst []byte, v T) ([]byte, error)
	// Decode reads a value. It must not change data, and whoever uses a value
	// that shares memory with data must not change it either.
	Decode(data []byte) (T, error)
}

// The serdes of plain bytes and text. Do not assign to them.
var (
	// Bytes passes bytes through. It keeps null (a nil slice) and empty (a
	// slice of length 0 that is not nil) apart. Decode does not copy: the slice
	// must not be changed.
	Bytes Serde[[]byte] = bytesSerde{}

	// String is text as Kafka's StringSerializer writes it in UTF-8. Bytes that
	// are not UTF-8 are kept as they are. It has no value for null: a null value
	// is a decode error ([ErrNull]), a null key passes as [Source] says.
	String Serde[string] = stringSerde{}
)

type bytesSerde struct{}

func (bytesSerde) Append(dst, v []byte) ([]byte, error) {
	if v == nil {
		return nil, nil
	}
	return append(dst, v...), nil
}

func (bytesSerde) Decode(data []byte) ([]byte, error) { return data, nil }

type stringSerde struct{}

func (stringSerde) Append(dst []byte, v string) ([]byte, error) {
	return append(dst, v...), nil
}

func (stringSerde) Decode(data []byte) (string, error) {
	if data == nil {
		return "", ErrNull
	}
	return string(data), nil
}

// Nullable makes a serde for pointers out of one for values: nil is null, and
// anything else is what s makes of it. With it a value of null (a tombstone in a
// compacted topic) passes through a stream.
//
// Nullable(nil) is a nil serde, which Build reports.
func Nullable[T any](s Serde[T]) Serde[*T] {
	if s == nil {
		return nil
	}
	return nullableSerde[T]{s}
}

type nullableSerde[T any] struct{ of Serde[T] }

func (s nullableSerde[T]) Append(dst []byte, v *T) ([]byte, error) {
	if v == nil {
		return nil, nil
	}
	return s.of.Append(dst, *v)
}

func (s nullableSerde[T]) Decode(data []byte) (*T, error) {
	if data == nil {
		return nil, nil
	}
	v, err := s.of.Decode(data)
	if err != nil {
		return nil, err
	}
	return &v, nil
}
