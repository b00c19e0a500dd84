package topology

import "encoding/json"

// JSON is the serde of a T as JSON text, by the rules of encoding/json: unknown
// fields are ignored, anything after the first JSON value is an error, and <, >
// and & are written as \u escapes. Numbers read into an interface become
// float64 and lose digits beyond 2^53; use json.Number or a typed field.
//
// Null bytes are [ErrNull]; the JSON text null is a value like any other, and
// what encoding/json makes of it. A nil pointer is written as that text, not as
// null bytes: for a tombstone use Nullable(JSON[T]()).
func JSON[T any]() Serde[T] { return jsonSerde[T]{} }

type jsonSerde[T any] struct{}

func (jsonSerde[T]) Append(dst []byte, v T) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return append(dst, text...), nil
}

func (jsonSerde[T]) Decode(data []byte) (T, error) {
	var v T
	if data == nil {
		return v, ErrNull
	}
	err := json.Unmarshal(data, &v)
	return v, err
}
