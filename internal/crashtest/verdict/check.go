package verdict

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strconv"
)

// Check judges a run. It changes nothing in e.
//
// Duplicates, losses and order are judged on what the first reader saw; the
// second one has to have seen the same.
func Check(e Evidence) Verdict {
	inputs := inLogOrder(e.Inputs)
	outputs := inLogOrder(e.Readers[0])
	v := Verdict{Inputs: len(inputs), Outputs: len(outputs)}

	want := expect(inputs, e.Oracle)
	v.Expected, v.Unordered = want.total, want.unordered
	want.match(&v, outputs)
	want.missing(&v)
	compare(&v, outputs, inLogOrder(e.Readers[1]))
	checkOffsets(&v, inputs, e.Committed, e.Ends)
	for _, txn := range slices.SortedFunc(slices.Values(e.Open), func(a, b OpenTransaction) int {
		return cmp.Compare(a.TransactionalID, b.TransactionalID)
	}) {
		v.add(OpenTransactions, Record{}, "%s is %s", txn.TransactionalID, txn.State)
	}
	return v
}

// compare finds the places where two readers, both in log order, differ.
func compare(v *Verdict, a, b []Record) {
	for len(a) > 0 || len(b) > 0 {
		order := -1 // a has something that b has not
		switch {
		case len(a) == 0:
			order = 1
		case len(b) > 0:
			order = byPlace(a[0], b[0])
		}
		switch {
		case order < 0:
			v.add(ReadersDisagree, a[0], "%s seen by the first reader only", at(a[0]))
			a = a[1:]
		case order > 0:
			v.add(ReadersDisagree, b[0], "%s seen by the second reader only", at(b[0]))
			b = b[1:]
		default:
			if !same(a[0].Key, b[0].Key) || !same(a[0].Value, b[0].Value) {
				v.add(ReadersDisagree, a[0], "%s value %s, by the second reader key %s value %s",
					at(a[0]), text(a[0].Value), text(b[0].Key), text(b[0].Value))
			}
			a, b = a[1:], b[1:]
		}
	}
}

// checkOffsets holds that the group has consumed each log to its end and not
// further. A log without data needs no offset.
func checkOffsets(v *Verdict, inputs []Record, committed map[TopicPartition]int64, given map[TopicPartition]End) {
	ends := maps.Clone(given)
	if ends == nil {
		ends = map[TopicPartition]End{}
	}
	for _, in := range inputs { // evidence that contradicts itself is held to the later end
		tp := TopicPartition{Topic: in.Topic, Partition: in.Partition}
		end := ends[tp]
		ends[tp] = End{Data: max(end.Data, in.Offset+1), Log: max(end.Log, in.Offset+1)}
	}
	for _, tp := range slices.SortedFunc(maps.Keys(ends), byLog) {
		end := ends[tp]
		next, ok := committed[tp]
		where := Record{Topic: tp.Topic, Partition: tp.Partition, Offset: next}
		switch {
		case !ok && end.Data > 0:
			where.Offset = -1
			v.add(OffsetsNotAtEnd, where, "%v has no committed offset, its data ends at %d", tp, end.Data)
		case ok && next < end.Data:
			v.add(OffsetsNotAtEnd, where, "%v committed %d, its data ends at %d", tp, next, end.Data)
		case ok && next > end.Log:
			v.add(OffsetsNotAtEnd, where, "%v committed %d, past the log's end %d", tp, next, end.Log)
		}
	}
}

// inLogOrder returns the records by topic, partition and offset.
func inLogOrder(records []Record) []Record {
	return slices.SortedStableFunc(slices.Values(records), byPlace)
}

func byPlace(a, b Record) int {
	return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset))
}

func byLog(a, b TopicPartition) int {
	return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
}

// same compares content; null is not empty.
func same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// identity is topic, key and value as one comparable string. Lengths stand
// before the parts so that no two identities run into each other.
func identity(topic string, key, value []byte) string {
	buf := make([]byte, 0, len(topic)+len(key)+len(value)+16)
	for i, part := range [][]byte{[]byte(topic), key, value} {
		if i > 0 && part == nil {
			buf = append(buf, '-')
			continue
		}
		buf = strconv.AppendInt(buf, int64(len(part)), 10)
		buf = append(append(buf, ':'), part...)
	}
	return string(buf)
}
