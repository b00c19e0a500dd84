package eos

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// recentTransactions is for how many transactions a partition that is no longer
// written is still announced. Every announced partition gets a marker, so the
// list must forget.
const recentTransactions = 16

// recent holds the partitions that a lane's last transactions wrote. Slots
// share it.
type recent struct {
	mu   sync.Mutex
	now  int
	last map[partition]int
}

// add books the partitions of one more transaction.
func (r *recent) add(written map[partition]struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil {
		r.last = map[partition]int{}
	}
	r.now++
	for p := range written {
		r.last[p] = r.now
	}
	for p, at := range r.last {
		if r.now-at > recentTransactions {
			delete(r.last, p)
		}
	}
}

// topics gives the list as AddPartitionsToTxn wants it.
func (r *recent) topics() []kmsg.AddPartitionsToTxnRequestTopic {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := map[string]int{}
	var out []kmsg.AddPartitionsToTxnRequestTopic
	for p := range r.last {
		i, ok := at[p.topic]
		if !ok {
			i = len(out)
			at[p.topic] = i
			t := kmsg.NewAddPartitionsToTxnRequestTopic()
			t.Topic = p.topic
			out = append(out, t)
		}
		out[i].Partitions = append(out[i].Partitions, p.id)
	}
	return out
}
