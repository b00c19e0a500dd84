package eos

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// fencingDelay is the wait between an assignment that gained partitions and the
// look for dead peers: the group has settled by then.
const fencingDelay = time.Second

// fencingTimer runs one look after the last of several assignments.
type fencingTimer struct {
	mu    sync.Mutex
	timer *time.Timer
	done  sync.WaitGroup
	look  func()
}

func (f *fencingTimer) restart() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.look == nil {
		return
	}
	if f.timer != nil && f.timer.Stop() {
		f.done.Done()
	}
	f.done.Add(1)
	look := f.look
	f.timer = time.AfterFunc(fencingDelay, func() {
		defer f.done.Done()
		look()
	})
}

func (f *fencingTimer) stop() {
	f.mu.Lock()
	f.look = nil
	if f.timer != nil && f.timer.Stop() {
		f.done.Done()
	}
	f.mu.Unlock()
	f.done.Wait()
}

// fencePeers aborts every open transaction of this application whose member is
// not in the group, whether or not it holds offsets: one that died before its
// TxnOffsetCommit leaves no pending offset, yet holds back the last stable
// offset of our outputs until its time-out. A live member fenced by mistake
// initialises its id again and goes on.
func (m *member) fencePeers(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, m.engine.cfg.TransactionTimeout)
	defer cancel()
	open, err := m.openTransactions(ctx, m.engine.cfg.ApplicationID+idSeparator)
	if err != nil || len(open) == 0 {
		m.fencingTrouble(err)
		return
	}
	groups, err := m.adm.DescribeGroups(ctx, m.engine.cfg.ApplicationID)
	if err == nil {
		err = groups.Error()
	}
	if err != nil {
		m.fencingTrouble(err)
		return
	}
	alive := map[string]bool{m.id.instance: true}
	for _, g := range groups {
		for _, peer := range g.Members {
			if peer.InstanceID != nil {
				alive[*peer.InstanceID] = true
			}
		}
	}
	for _, id := range open {
		if t, ok := parseTransactionalID(id); ok && !alive[t.member] {
			m.fencingTrouble(m.fence(ctx, id))
		}
	}
}

func (m *member) fencingTrouble(err error) {
	if err != nil && m.engine.runCtx.Err() == nil {
		m.log.Warn("dead peers not fenced; their open transactions end by time-out", "error", err)
	}
}

// openTransactions lists the Ongoing transactional ids with exactly this prefix.
func (m *member) openTransactions(ctx context.Context, prefix string) ([]string, error) {
	listed, err := listTransactions(ctx, m.adm, "Ongoing")
	if err != nil {
		return nil, err
	}
	var out []string
	for id := range listed {
		if strings.HasPrefix(id, prefix) {
			out = append(out, id)
		}
	}
	return out, nil
}

// fence initialises id with a throw-away client, which aborts its transaction.
func (m *member) fence(ctx context.Context, id string) error {
	client, err := kgo.NewClient(m.engine.cfg.producerOptions(id, newCopies())...)
	if err != nil {
		return err
	}
	defer client.Close()
	if _, _, err := client.ProducerID(ctx); err != nil {
		return err
	}
	m.log.Info("aborted the open transaction of a member that is gone", "transactional_id", id)
	m.engine.observe(Event{Kind: PeerFenced, TransactionalID: id})
	return nil
}
