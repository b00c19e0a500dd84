package latepackets_test

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weirstream/weir/internal/faultproxy"
)

// how says what happens to a request.
type how string

const (
	requestLost how = "request lost"
	replyLost   how = "reply lost"
	// lateBefore and lateAfter: the request is delivered late, before and after
	// the id is initialised anew; the latter into the next transaction.
	lateBefore how = "late, before the id is initialised anew"
	lateAfter  how = "late, into the next transaction"
)

// fault is one case.
type fault struct {
	key kmsg.Key
	how how
	// resent: the client's own second copy succeeds. Otherwise every copy has
	// the same fate, until the engine has given up.
	resent bool
	lanes  int
}

func (f fault) String() string {
	resent := "no copy succeeds"
	if f.resent {
		resent = "resend succeeds"
	}
	return fmt.Sprintf("%s %s, %s, lanes=%d", f.key.Name(), f.how, resent, f.lanes)
}

// reason is what the engine has to say of the transaction.
func (f fault) reason() string {
	if f.resent {
		return "late_copy"
	}
	return "no_answer"
}

func faults() []fault {
	var out []fault
	for _, lanes := range []int{1, 3} {
		for _, resent := range []bool{true, false} {
			for _, h := range []how{requestLost, replyLost} {
				out = append(out, fault{kmsg.EndTxn, h, resent, lanes})
			}
			for _, key := range []kmsg.Key{kmsg.EndTxn, kmsg.TxnOffsetCommit, kmsg.AddOffsetsToTxn, kmsg.AddPartitionsToTxn} {
				for _, h := range []how{lateBefore, lateAfter} {
					out = append(out, fault{key, h, resent, lanes})
				}
			}
		}
	}
	return out
}

// answer and retry are how long the client waits for an answer, and repeats.
func (f fault) answer() time.Duration {
	if f.resent {
		return 0
	}
	return time.Second
}

func (f fault) retry() time.Duration {
	if f.resent {
		return 0
	}
	return 2 * time.Second
}

// idOf is the transactional id of a request of the transaction protocol.
func idOf(e *faultproxy.Exchange) string {
	req, err := e.Request()
	if err != nil {
		return ""
	}
	switch r := req.(type) {
	case *kmsg.AddOffsetsToTxnRequest:
		return r.TransactionalID
	case *kmsg.AddPartitionsToTxnRequest:
		return r.TransactionalID
	case *kmsg.TxnOffsetCommitRequest:
		return r.TransactionalID
	case *kmsg.EndTxnRequest:
		if r.Commit {
			return r.TransactionalID
		}
	case *kmsg.InitProducerIDRequest:
		if r.TransactionalID != nil {
			return *r.TransactionalID
		}
	}
	return ""
}
