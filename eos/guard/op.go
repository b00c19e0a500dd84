package guard

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// Op names one operation as its sender knows it: what is done to which thing for
// the how-manieth time. Make it with [OpOf].
type Op struct {
	entity, action string
	version        Version
}

// OpOf makes an Op. All three parts are required, each a contract with the
// sender:
//
//   - entity is the thing, such as an order's id: 1 to 256 bytes of printable
//     UTF-8. Effects of one entity keep their order.
//   - action is what is done to it, such as "charge": create and refund of one
//     order are two operations.
//   - version tells repeats of the action apart.
//
// None may come from this run: no attempt number, no time of receipt, no random
// id. A part that is missing or malformed is reported when the key is made.
func OpOf(entity, action string, version Version) Op {
	return Op{entity: entity, action: action, version: version}
}

// Entity is what the operation is done to.
func (o Op) Entity() string { return o.entity }

// maxPart is the most bytes in one part of a key.
const maxPart = 256

func (o Op) fault() error {
	if err := named("entity", o.entity); err != nil {
		return err
	}
	if err := named("action", o.action); err != nil {
		return err
	}
	return o.version.fault()
}

// named refuses a part of a key that is empty, too long or not printable.
func named(part, s string) error {
	switch {
	case s == "":
		return fmt.Errorf("its %s is empty", part)
	case len(s) > maxPart:
		return fmt.Errorf("its %s has %d bytes, at most %d are allowed", part, len(s), maxPart)
	case !utf8.ValidString(s):
		return fmt.Errorf("its %s %q is not UTF-8", part, s)
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("its %s %q has the unprintable character %U", part, s, r)
		}
	}
	return nil
}
