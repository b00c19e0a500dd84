// Package deadletter is the form of a dead letter: the original record, byte for
// byte, with headers that say where it came from and why it failed.
//
// The processor writes dead letters in the transaction that commits the input's
// offset; weir dlq lists them and sends them again. All header values are UTF-8
// text. A dead letter keeps the key, value, headers and timestamp of its record;
// a value too large for the dead letter topic is cut, and says so.
package deadletter

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"
)

// The headers that name the origin. They stay on a record that is sent again, so
// that it keeps its identity when it fails a second time.
const (
	HeaderTopic     = "weir.origin.topic"
	HeaderTopicID   = "weir.origin.topic_id"  // base64, as Kafka prints it
	HeaderPartition = "weir.origin.partition" // decimal
	HeaderOffset    = "weir.origin.offset"    // decimal
	HeaderTimestamp = "weir.origin.timestamp" // milliseconds since 1970, decimal
)

// The headers that describe the failure. They end with the dead letter.
const (
	HeaderPhase       = "weir.dlq.phase" // decode, process or produce
	HeaderOperator    = "weir.dlq.operator"
	HeaderError       = "weir.dlq.error"
	HeaderApplication = "weir.dlq.application_id"
	HeaderKeySchema   = "weir.dlq.key_schema"      // decimal
	HeaderTime        = "weir.dlq.time"            // RFC 3339, UTC
	HeaderValueBytes  = "weir.dlq.value_cut_from"  // decimal; only if the value was cut
	HeaderForced      = "weir.dlq.timestamp_moved" // "true"; only if the timestamp is not the record's own
)

// KeySchema is the version of the identity made of topic id, partition and
// offset. It changes when that identity is made in another way.
const KeySchema = 1

// MaxErrorBytes bounds HeaderError; a longer text is cut at a rune.
const MaxErrorBytes = 4096

// Prefixes of the headers above.
const (
	originPrefix  = "weir.origin."
	failurePrefix = "weir.dlq."
)

// Letter is what a dead letter says beside the record itself.
type Letter struct {
	Topic     string
	TopicID   [16]byte
	Partition int32
	Offset    int64
	Timestamp time.Time // of the original record, in milliseconds

	Phase, Operator, Error string
	ApplicationID          string
	KeySchema              int
	Time                   time.Time // when it failed
	ValueCutFrom           int       // original size of a value that was cut; 0: it is whole
	TimestampMoved         bool
}

// New makes the record to write to topic for r, which failed as l says. l's
// origin is replaced by the one in r's headers if r was sent again from a dead
// letter of the same topic. A value over maxValue bytes is cut to that; a
// negative maxValue cuts nothing. r is not changed.
func New(topic string, r *kgo.Record, l Letter, maxValue int) *kgo.Record {
	if first, err := origin(r.Headers); err == nil && first.Topic == l.Topic {
		l.Topic, l.TopicID, l.Partition, l.Offset, l.Timestamp = first.Topic, first.TopicID, first.Partition, first.Offset, first.Timestamp
	}
	l.KeySchema, l.Error = KeySchema, bounded(l.Error)
	value := r.Value
	if maxValue >= 0 && len(value) > maxValue {
		l.ValueCutFrom, value = len(value), value[:maxValue]
	}
	return &kgo.Record{
		Topic: topic, Key: r.Key, Value: value, Timestamp: r.Timestamp,
		Headers: append(without(r.Headers, originPrefix, failurePrefix), l.headers()...),
	}
}

// Replay gives the record to send again from the dead letter r: the original
// key, value, headers and timestamp, for its original topic, plus the origin
// headers. The partition is left to the partitioner. The error is that of Parse;
// the caller decides about a letter whose value was cut, which is not the
// original any more.
func Replay(r *kgo.Record) (*kgo.Record, Letter, error) {
	l, err := Parse(r.Headers)
	if err != nil {
		return nil, Letter{}, err
	}
	ts := r.Timestamp
	if l.TimestampMoved {
		ts = l.Timestamp
	}
	return &kgo.Record{Topic: l.Topic, Key: r.Key, Value: r.Value, Timestamp: ts, Headers: without(r.Headers, failurePrefix)}, l, nil
}

// without copies the headers but those with one of the prefixes.
func without(headers []kgo.RecordHeader, prefixes ...string) []kgo.RecordHeader {
	kept := make([]kgo.RecordHeader, 0, len(headers)+12)
	for _, h := range headers {
		if !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(h.Key, p) }) {
			kept = append(kept, h)
		}
	}
	return kept
}

// bounded makes s valid UTF-8 of at most MaxErrorBytes.
func bounded(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= MaxErrorBytes {
		return s
	}
	cut := MaxErrorBytes
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}
