package eos

import (
	"context"
	"errors"
	"strings"
	"time"
)

// fencingDelay is the wait between an assignment that gained partitions and the
// look for dead peers: one look for several assignments in a row.
const fencingDelay = 200 * time.Millisecond

// fencingRetry is the wait before a look that failed is repeated.
const fencingRetry = time.Second

// fencingTimeout bounds one look.
const fencingTimeout = 5 * time.Second

// fencer looks for dead peers after every assignment that gained partitions, in
// one goroutine beside the group's callbacks.
type fencer struct {
	gained chan struct{} // one is enough for any number of assignments
}

func newFencer() fencer { return fencer{gained: make(chan struct{}, 1)} }

// wanted asks for a look.
func (f fencer) wanted() {
	select {
	case f.gained <- struct{}{}:
	default:
	}
}

// run looks until ctx ends. A look that was asked for is made all the same: who
// took over from a dead peer and leaves at once must not leave its open
// transaction behind.
func (f fencer) run(ctx context.Context, look func(context.Context) error) {
	for {
		select {
		case <-ctx.Done():
			select {
			case <-f.gained:
				_ = look(context.WithoutCancel(ctx)) // bounded by look; what remains open ends by time-out
			default:
			}
			return
		case <-f.gained:
		}
		pause(ctx, fencingDelay)
		if err := look(context.WithoutCancel(ctx)); err != nil && pause(ctx, fencingRetry) {
			f.wanted()
		}
	}
}

// afterGain is the look that follows an assignment which gained partitions.
func (m *member) afterGain(ctx context.Context) error {
	err := m.fencePeers(ctx)
	m.checkCoverage(m.engine.runCtx)
	return err
}

// fencePeers aborts every open transaction of this application whose member is
// not in the group, whether or not it holds offsets: one that died before its
// TxnOffsetCommit leaves no pending offset, yet holds back the last stable
// offset of our outputs until its time-out. A live member fenced by mistake
// initialises its id again and goes on.
func (m *member) fencePeers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, fencingTimeout)
	defer cancel()
	err := m.fenceAbsent(ctx)
	if err != nil && m.engine.runCtx.Err() == nil {
		m.log.Warn("dead peers not fenced yet", "error", err)
	}
	return err
}

func (m *member) fenceAbsent(ctx context.Context) error {
	open, err := m.openTransactions(ctx, m.engine.cfg.ApplicationID+idSeparator)
	if err != nil || len(open) == 0 {
		return err
	}
	groups, err := m.adm.DescribeGroups(ctx, m.engine.cfg.ApplicationID)
	if err = errors.Join(err, groups.Error()); err != nil {
		return err
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
			err = errors.Join(err, m.fence(ctx, id))
		}
	}
	return err
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
	client, err := m.engine.newClient(m.engine.producerOptions(id, newCopies()))
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
