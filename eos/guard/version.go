package guard

import (
	"errors"
	"fmt"
	"strconv"
)

// Version tells the operations of one entity and action apart: the second
// change of an order from the first. Make it with [Seq], [Ref] or [Once]; the
// zero Version is refused.
type Version struct {
	kind versionKind
	text string
	err  error
}

// versionKind is part of every key: its values never change.
type versionKind byte

const (
	versionNone versionKind = 0
	versionSeq  versionKind = 's'
	versionRef  versionKind = 'r'
	versionOnce versionKind = 'o'
)

// Integer is what [Seq] takes.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Seq is a number that the sender raises with every change of the entity. A
// negative one is refused.
func Seq[N Integer](n N) Version {
	v := Version{kind: versionSeq, text: fmt.Sprintf("%d", n)} // Sprint would ask a String method
	if n < 0 {
		v.err = fmt.Errorf("version Seq(%d) is negative", n)
	}
	return v
}

// Ref is a name that the sender gives to this one operation, such as the id of
// an event: 1 to 256 bytes of printable UTF-8.
func Ref(s string) Version { return Version{kind: versionRef, text: s} }

// Once says that the action happens at most once in the life of the entity.
func Once() Version { return Version{kind: versionOnce} }

// String is the form in which keys are shown: "seq 7", "ref ev-12", "once".
func (v Version) String() string {
	switch v.kind {
	case versionSeq:
		return "seq " + v.text
	case versionRef:
		return "ref " + shown(v.text)
	case versionOnce:
		return "once"
	case versionNone:
	}
	return "none"
}

func (v Version) fault() error {
	switch v.kind {
	case versionRef:
		return named("version Ref", v.text)
	case versionSeq, versionOnce:
		return v.err
	case versionNone:
	}
	return errors.New("it has no version: say Seq, Ref or Once")
}

// shown quotes what would be misread in a line.
func shown(s string) string {
	if q := strconv.Quote(s); q != `"`+s+`"` || s == "" {
		return q
	}
	return s
}
