package deadletter

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func (l Letter) headers() []kgo.RecordHeader {
	text := func(key, value string) kgo.RecordHeader { return kgo.RecordHeader{Key: key, Value: []byte(value)} }
	hs := []kgo.RecordHeader{
		text(HeaderTopic, l.Topic),
		text(HeaderTopicID, base64.StdEncoding.EncodeToString(l.TopicID[:])),
		text(HeaderPartition, strconv.FormatInt(int64(l.Partition), 10)),
		text(HeaderOffset, strconv.FormatInt(l.Offset, 10)),
		text(HeaderTimestamp, strconv.FormatInt(l.Timestamp.UnixMilli(), 10)),
		text(HeaderPhase, l.Phase),
		text(HeaderOperator, l.Operator),
		text(HeaderError, l.Error),
		text(HeaderApplication, l.ApplicationID),
		text(HeaderKeySchema, strconv.Itoa(l.KeySchema)),
		text(HeaderTime, l.Time.UTC().Format(time.RFC3339Nano)),
	}
	if l.ValueCutFrom > 0 {
		hs = append(hs, text(HeaderValueBytes, strconv.Itoa(l.ValueCutFrom)))
	}
	if l.TimestampMoved {
		hs = append(hs, text(HeaderForced, "true"))
	}
	return hs
}

// Parse reads the headers of a dead letter. The error names the header that is
// missing or malformed: the record is not a dead letter of this product.
func Parse(headers []kgo.RecordHeader) (Letter, error) {
	l, err := origin(headers)
	if err != nil {
		return Letter{}, err
	}
	p := parser{headers: headers}
	l.Phase, l.Operator, l.Error = p.text(HeaderPhase), p.text(HeaderOperator), p.text(HeaderError)
	l.ApplicationID = p.text(HeaderApplication)
	l.KeySchema = int(p.number(HeaderKeySchema, 32))
	if at := p.text(HeaderTime); p.err == nil {
		if l.Time, err = time.Parse(time.RFC3339Nano, at); err != nil {
			p.fail(HeaderTime, at)
		}
	}
	if _, ok := find(headers, HeaderValueBytes); ok {
		l.ValueCutFrom = int(p.number(HeaderValueBytes, 32))
	}
	moved, _ := find(headers, HeaderForced)
	l.TimestampMoved = string(moved) == "true"
	return l, p.err
}

// origin reads the origin headers alone.
func origin(headers []kgo.RecordHeader) (Letter, error) {
	p := parser{headers: headers}
	l := Letter{
		Topic:     p.text(HeaderTopic),
		Partition: int32(p.number(HeaderPartition, 32)),
		Offset:    p.number(HeaderOffset, 64),
		Timestamp: time.UnixMilli(p.number(HeaderTimestamp, 64)),
	}
	id := p.text(HeaderTopicID)
	if raw, err := base64.StdEncoding.DecodeString(id); p.err == nil && (err != nil || copy(l.TopicID[:], raw) != 16) {
		p.fail(HeaderTopicID, id)
	}
	return l, p.err
}

// parser keeps the first fault.
type parser struct {
	headers []kgo.RecordHeader
	err     error
}

func (p *parser) fail(key, value string) {
	if p.err == nil {
		p.err = fmt.Errorf("deadletter: header %s: malformed value %q", key, value)
	}
}

func (p *parser) text(key string) string {
	v, ok := find(p.headers, key)
	if !ok && p.err == nil {
		p.err = fmt.Errorf("deadletter: header %s is missing: not a dead letter", key)
	}
	return string(v)
}

func (p *parser) number(key string, bits int) int64 {
	s := p.text(key)
	n, err := strconv.ParseInt(s, 10, bits)
	if err != nil {
		p.fail(key, s)
	}
	return n
}

// find returns the last header of that key: the newest.
func find(headers []kgo.RecordHeader, key string) ([]byte, bool) {
	for i := len(headers) - 1; i >= 0; i-- {
		if headers[i].Key == key {
			return headers[i].Value, true
		}
	}
	return nil, false
}
