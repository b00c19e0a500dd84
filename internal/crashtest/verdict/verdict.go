package verdict

import (
	"fmt"
	"strings"
)

// Kind is a way in which a run can be wrong.
type Kind int

// The kinds, the gravest first.
const (
	Missing          Kind = iota // an expected output is not there; First is the input that should have caused it
	Duplicated                   // an expected output is there more often than expected; First is the surplus copy
	Unexpected                   // an output that no input causes
	OutOfOrder                   // an output stands behind a later one of the same key and input partition
	ReadersDisagree              // one reader saw a record that the other did not see, or saw with other content
	OffsetsNotAtEnd              // the group's offset of a log is before its last data record or past its end; First.Offset is the committed one, -1 when absent
	OpenTransactions             // a transaction was left open
	kinds                        // their number
)

func (k Kind) String() string {
	switch k {
	case Missing:
		return "missing"
	case Duplicated:
		return "duplicated"
	case Unexpected:
		return "unexpected"
	case OutOfOrder:
		return "out of order"
	case ReadersDisagree:
		return "readers disagree"
	case OffsetsNotAtEnd:
		return "offsets not at end"
	case OpenTransactions:
		return "open transactions"
	case kinds:
	}
	return fmt.Sprintf("kind %d", int(k))
}

// Kinds lists every kind, the gravest first.
func Kinds() []Kind {
	all := make([]Kind, kinds)
	for i := range all {
		all[i] = Kind(i)
	}
	return all
}

// Finding is what was found of one kind. With a Count of 0 the rest is empty.
type Finding struct {
	// Count is the number of records, logs or transactions concerned.
	Count int
	// First is the first of them, in order of topic, partition and offset. It
	// is empty for OpenTransactions.
	First Record
	// Detail says what is wrong with the first one.
	Detail string
}

// Verdict is the judgement on one run.
type Verdict struct {
	Inputs   int // input records
	Expected int // outputs that they have to cause
	Outputs  int // outputs that the first reader saw
	// Unordered counts expected outputs that took no part in the check of the
	// order, because equal ones come from more than one input partition. Values
	// that name their input keep it at 0.
	Unordered int

	findings [kinds]Finding
}

// Of returns what was found of one kind.
func (v Verdict) Of(k Kind) Finding { return v.findings[k] }

// Clean is true when nothing of any kind was found.
func (v Verdict) Clean() bool {
	for _, f := range v.findings {
		if f.Count > 0 {
			return false
		}
	}
	return true
}

// String is the verdict in one line: clean, or every kind found with its count
// and its first case.
func (v Verdict) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%d inputs, %d of %d outputs: ", v.Inputs, v.Outputs, v.Expected)
	if v.Clean() {
		s.WriteString("clean")
		return s.String()
	}
	sep := ""
	for k, f := range v.findings {
		if f.Count > 0 {
			fmt.Fprintf(&s, "%s%d %v (first: %s)", sep, f.Count, Kind(k), f.Detail)
			sep = "; "
		}
	}
	return s.String()
}

// add counts one case of a kind. Callers go through the cases in order, so the
// first one added is the first.
func (v *Verdict) add(k Kind, at Record, detail string, args ...any) {
	f := &v.findings[k]
	if f.Count++; f.Count == 1 {
		f.First, f.Detail = at, fmt.Sprintf(detail, args...)
	}
}

// at prints the coordinates of a record.
func at(r Record) string {
	return fmt.Sprintf("%s[%d]@%d key %s", r.Topic, r.Partition, r.Offset, text(r.Key))
}

// text prints a key or value, a long one cut.
func text(b []byte) string {
	const most = 60
	switch {
	case b == nil:
		return "null"
	case len(b) > most:
		return fmt.Sprintf("%q...(%d bytes)", b[:most], len(b))
	}
	return fmt.Sprintf("%q", b)
}
