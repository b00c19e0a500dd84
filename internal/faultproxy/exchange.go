package faultproxy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Exchange is one request and, from ReplyReceived on, its reply. Matchers and
// callbacks may keep it and read it from any goroutine.
type Exchange struct {
	Broker        string // the real broker's host:port
	Client        string // client.id
	Key, Version  int16  // api key and version
	CorrelationID int32

	body []byte // the request after its header

	forwarded chan struct{} // closed when rules at RequestForwarded were asked
	late      effect        // what they want done to the reply; fixed by then

	mu    sync.Mutex
	reply []byte // the whole reply without its length; nil before ReplyReceived
}

// KeyName is the name of the api key, such as EndTxn.
func (e *Exchange) KeyName() string { return kmsg.NameForKey(e.Key) }

// Request decodes the request. It shares memory with the frame: do not modify.
func (e *Exchange) Request() (kmsg.Request, error) {
	req := kmsg.RequestForKey(e.Key)
	if req == nil {
		return nil, fmt.Errorf("faultproxy: api key %d is not known", e.Key)
	}
	req.SetVersion(e.Version)
	if err := req.ReadFrom(e.body); err != nil {
		return nil, fmt.Errorf("faultproxy: decode %s v%d request: %w", e.KeyName(), e.Version, err)
	}
	return req, nil
}

// Reply decodes the reply; before ReplyReceived there is none, which is an
// error.
func (e *Exchange) Reply() (kmsg.Response, error) {
	e.mu.Lock()
	raw := e.reply
	e.mu.Unlock()
	resp := kmsg.ResponseForKey(e.Key)
	if raw == nil || resp == nil {
		return nil, fmt.Errorf("faultproxy: %s v%d has no reply to decode", e.KeyName(), e.Version)
	}
	resp.SetVersion(e.Version)
	b := kbin.Reader{Src: raw[4:]}
	if resp.IsFlexible() && e.Key != int16(kmsg.ApiVersions) { // KIP-511: its header never has tags
		kmsg.SkipTags(&b)
	}
	if err := errors.Join(b.Complete(), resp.ReadFrom(b.Src)); err != nil {
		return nil, fmt.Errorf("faultproxy: decode %s v%d reply: %w", e.KeyName(), e.Version, err)
	}
	return resp, nil
}

// setReply stores the reply and returns what was wished for it when the request
// went out.
func (e *Exchange) setReply(frame []byte) effect {
	<-e.forwarded // the broker can be faster than the rules
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reply = frame[4:]
	return e.late
}

// parseRequest reads the header of a frame that begins with its length. Source:
// Kafka's RequestHeader.json.
func parseRequest(broker string, frame []byte) (*Exchange, error) {
	b := kbin.Reader{Src: frame[4:]}
	e := &Exchange{Broker: broker, Key: b.Int16(), Version: b.Int16(), CorrelationID: b.Int32(), forwarded: make(chan struct{})}
	if id := b.NullableString(); id != nil {
		e.Client = *id
	}
	if req := kmsg.RequestForKey(e.Key); req != nil {
		req.SetVersion(e.Version)
		if req.IsFlexible() {
			kmsg.SkipTags(&b)
		}
	}
	if err := b.Complete(); err != nil {
		return nil, fmt.Errorf("faultproxy: request header: %w", err)
	}
	e.body = b.Src
	return e, nil
}

// answered says whether the broker replies to the request; it does not to a
// Produce with acks=0.
func (e *Exchange) answered() bool {
	if e.Key != int16(kmsg.Produce) {
		return true
	}
	b := kbin.Reader{Src: e.body}
	switch { // the nullable transactional id comes before acks from version 3 on
	case e.Version >= 9:
		b.CompactNullableString()
	case e.Version >= 3:
		b.NullableString()
	}
	return b.Int16() != 0
}

func correlation(frame []byte) int32 { return int32(binary.BigEndian.Uint32(frame[4:])) }
