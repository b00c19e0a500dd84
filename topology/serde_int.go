package topology

import (
	"encoding/binary"
	"fmt"
)

// The serdes of integers: big-endian two's complement of fixed width, as Kafka's
// ShortSerializer, IntegerSerializer and LongSerializer write them. Any other
// length is a decode error, and so is a null value ([ErrNull]). Do not assign to
// them.
var (
	Int16 Serde[int16] = int16Serde{}
	Int32 Serde[int32] = int32Serde{}
	Int64 Serde[int64] = int64Serde{}
)

type int16Serde struct{}

func (int16Serde) Append(dst []byte, v int16) ([]byte, error) {
	return binary.BigEndian.AppendUint16(dst, uint16(v)), nil
}

func (int16Serde) Decode(data []byte) (int16, error) {
	if len(data) != 2 {
		return 0, lengthError("int16", 2, data)
	}
	return int16(binary.BigEndian.Uint16(data)), nil
}

type int32Serde struct{}

func (int32Serde) Append(dst []byte, v int32) ([]byte, error) {
	return binary.BigEndian.AppendUint32(dst, uint32(v)), nil
}

func (int32Serde) Decode(data []byte) (int32, error) {
	if len(data) != 4 {
		return 0, lengthError("int32", 4, data)
	}
	return int32(binary.BigEndian.Uint32(data)), nil
}

type int64Serde struct{}

func (int64Serde) Append(dst []byte, v int64) ([]byte, error) {
	return binary.BigEndian.AppendUint64(dst, uint64(v)), nil
}

func (int64Serde) Decode(data []byte) (int64, error) {
	if len(data) != 8 {
		return 0, lengthError("int64", 8, data)
	}
	return int64(binary.BigEndian.Uint64(data)), nil
}

func lengthError(what string, want int, data []byte) error {
	if data == nil {
		return ErrNull
	}
	return fmt.Errorf("%s: %d bytes, want %d", what, len(data), want)
}
