package guard

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"reflect"
	"time"
)

// Fingerprint is a SHA-256 of the significant fields of an operation. It is no
// identity: equal content under two keys is two operations, and other content
// under one key a conflict.
type Fingerprint [sha256.Size]byte

// fingerprintScheme is the first byte of what is hashed.
const fingerprintScheme = 1

// The tags of fields are part of what is hashed: their values never change.
const (
	tagString  = 's'
	tagBool    = 'b'
	tagInt     = 'i' // followed by the size in bytes
	tagUint    = 'u'
	tagBytes   = 'y'
	tagInstant = 't'
)

// fingerprintOf hashes fields in order, each with its type and length. It takes
// string, bool, integers, []byte and time.Time, and types made of them. Anything
// else is refused: a float is no amount, and maps, pointers and structs have no
// one order or form.
func fingerprintOf(fields []any) (Fingerprint, error) {
	if len(fields) == 0 {
		return Fingerprint{}, fmt.Errorf("it declares no significant field: a repeat with other content would pass for a duplicate")
	}
	b := binary.AppendUvarint([]byte{fingerprintScheme}, uint64(len(fields)))
	for i, field := range fields {
		var ok bool
		if b, ok = appendField(b, field); !ok {
			return Fingerprint{}, fmt.Errorf("its significant field %d is %s: %s", i+1, typeName(field), insteadOf(field))
		}
	}
	return sha256.Sum256(b), nil
}

func appendField(b []byte, field any) ([]byte, bool) {
	if at, ok := field.(time.Time); ok {
		b = append(b, tagInstant)
		b = binary.BigEndian.AppendUint64(b, uint64(at.Unix()))
		return binary.BigEndian.AppendUint32(b, uint32(at.Nanosecond())), true
	}
	v := reflect.ValueOf(field)
	switch v.Kind() { //nolint:exhaustive // what is not named is refused
	case reflect.String:
		return appendPart(append(b, tagString), v.String()), true
	case reflect.Bool:
		if v.Bool() {
			return append(b, tagBool, 1), true
		}
		return append(b, tagBool, 0), true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.BigEndian.AppendUint64(append(b, tagInt, size(v)), uint64(v.Int())), true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return binary.BigEndian.AppendUint64(append(b, tagUint, size(v)), v.Uint()), true
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return appendPart(append(b, tagBytes), string(v.Bytes())), true
		}
	}
	return b, false
}

// size is that of an integer in bytes; int and uint count as 8 everywhere.
func size(v reflect.Value) byte {
	if k := v.Kind(); k == reflect.Int || k == reflect.Uint {
		return 8
	}
	return byte(v.Type().Size())
}

func typeName(field any) string {
	if field == nil {
		return "nil"
	}
	return reflect.TypeOf(field).String()
}

func insteadOf(field any) string {
	switch reflect.ValueOf(field).Kind() {
	case reflect.Float32, reflect.Float64:
		return "give the amount in its smallest unit as an integer, or as a string"
	default:
		return "string, bool, integers, []byte and time.Time are allowed"
	}
}
