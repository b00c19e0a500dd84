package eos

import "sync"

const (
	// batchBytes is franz-go's default ProducerBatchMaxBytes, below the broker's
	// default message.max.bytes.
	batchBytes = 1000012
	// batchBytesFloor is where halving ends: a topic that takes less takes one
	// record at a time.
	batchBytesFloor = 1024
)

// batchLimits holds how large a batch each output topic takes, as far as that
// was learnt: a topic may allow less (max.message.bytes) than the client sends
// in one batch, which then is refused though none of its records is too large.
// A client asks when it first writes to the topic; after an abort it is a new
// one.
type batchLimits struct {
	mu  sync.Mutex
	max map[string]int32
}

// of is kgo.ProducerBatchMaxBytesFn.
func (b *batchLimits) of(topic string) int32 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n, ok := b.max[topic]; ok {
		return n
	}
	return batchBytes
}

// halve is called when a batch of several records was too large.
func (b *batchLimits) halve(topic string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.max == nil {
		b.max = map[string]int32{}
	}
	n, ok := b.max[topic]
	if !ok {
		n = batchBytes
	}
	b.max[topic] = max(n/2, batchBytesFloor)
}
