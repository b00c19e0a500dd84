package eos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// member is this process in the group: one client that polls and routes, and
// never produces.
//
// mu guards who owns what; the group's callbacks and the check before a
// TxnOffsetCommit take it. No request is sent under it.
type member struct {
	engine *Engine
	id     *identity
	client *kgo.Client
	adm    *kadm.Client
	log    *slog.Logger

	// begun is closed when client and adm are those of the group client, which
	// calls back from the moment it is made.
	begun chan struct{}

	topicIDs map[string][16]byte // immutable after start

	mu     sync.Mutex
	claims map[partition]*claim

	joined   atomic.Bool
	drained  atomic.Bool // the lanes have ended; callbacks have nothing to wait for
	fencing  fencer
	polledAt atomic.Int64 // unix nanoseconds of the last poll
}

// generation is the identity that a TxnOffsetCommit carries.
type generation struct {
	member string
	number int32
}

func newMember(e *Engine, id *identity) *member {
	m := &member{
		engine: e, id: id, log: e.log, begun: make(chan struct{}),
		topicIDs: map[string][16]byte{}, claims: map[partition]*claim{},
	}
	m.fencing = newFencer()
	return m
}

// begin hands over the group client.
func (m *member) begin(client *kgo.Client) {
	m.client, m.adm = client, kadm.NewClient(client)
	close(m.begun)
}

// identify gives the identity of now, and says whether every claim still
// holds. Both are read in one critical section, which the callbacks take too:
// once ownership has moved, the broker refuses the identity returned here.
func (m *member) identify(claims map[*claim]position) (generation, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for c := range claims {
		if !c.held && mutant != mutantNoStamp {
			return generation{}, false
		}
	}
	id, number := m.client.GroupMetadata()
	return generation{id, number}, id != "" && number >= 0
}

// confirm asks the coordinator whether this member is in the group under its
// instance id. A second process with the id ends the engine.
func (m *member) confirm(ctx context.Context) bool {
	err := m.heartbeat(ctx)
	return err == nil || errors.Is(err, kerr.RebalanceInProgress) || errors.Is(err, kerr.IllegalGeneration)
}

// current is confirm, and that no generation has passed this member by: what it
// owns it has owned all the time.
func (m *member) current(ctx context.Context) bool {
	err := m.heartbeat(ctx)
	return err == nil || errors.Is(err, kerr.RebalanceInProgress)
}

func (m *member) heartbeat(ctx context.Context) error {
	id, number := m.client.GroupMetadata()
	if id == "" || number < 0 {
		return errNotMember
	}
	ctx, cancel := context.WithTimeout(ctx, m.engine.cfg.SessionTimeout)
	defer cancel()
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID, req.Generation, req.InstanceID = m.engine.cfg.ApplicationID, id, number, &m.id.instance
	resp, err := req.RequestWith(ctx, m.client)
	if err != nil {
		return err
	}
	err = kerr.ErrorForCode(resp.ErrorCode)
	if errors.Is(err, kerr.FencedInstanceID) {
		m.engine.fail(m.fencedInstance())
	}
	return err
}

func (m *member) fencedInstance() *Error {
	return newError(ErrFenced, fmt.Sprintf("another process joined the group as %q", m.id.instance),
		"give each process its own instance id", kerr.FencedInstanceID)
}

// pausedPoll bounds a poll while partitions are paused: they may be due again.
const pausedPoll = 50 * time.Millisecond

// poll routes records to the lanes until ctx ends.
func (m *member) poll(ctx context.Context) {
	for ctx.Err() == nil {
		fetches := m.pollOnce(ctx, m.makeRoom(ctx))
		m.polledAt.Store(time.Now().UnixNano())
		if !fetches.IsClientClosed() && ctx.Err() == nil {
			m.route(fetches)
		}
		m.client.AllowRebalance()
	}
}

func (m *member) pollOnce(ctx context.Context, paused bool) kgo.Fetches {
	if paused {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, pausedPoll)
		defer cancel()
	}
	return m.client.PollRecords(ctx, m.engine.cfg.QueueRecords)
}

// roomPatience is how long a full lane may hold back the others before its
// partitions are paused instead: pausing throws away what franz-go has fetched
// ahead.
const roomPatience = 100 * time.Millisecond

// makeRoom waits for full lanes to drain. A lane that stays full has its
// partitions paused, so that the others go on; a partition that waits for a
// retry is paused alone. It says whether anything is paused.
func (m *member) makeRoom(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, roomPatience)
	defer cancel()
	paused := false
	for _, l := range m.engine.lanes {
		full := !l.awaitRoom(ctx)
		if !l.pausing(full) {
			continue
		}
		pause, resume, left := l.pauses(full, m.claimsOf(l))
		if len(pause) > 0 {
			m.client.PauseFetchPartitions(pause)
		}
		if len(resume) > 0 {
			m.client.ResumeFetchPartitions(resume)
		}
		paused = paused || left
	}
	return paused
}

func (m *member) claimsOf(l *lane) []*claim {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []*claim
	for _, c := range m.claims {
		if c.lane == l {
			out = append(out, c)
		}
	}
	return out
}

// route hands what was polled to the lanes that own it. Rebalances are blocked
// while it runs, so a record's claim is that of its poll.
func (m *member) route(fetches kgo.Fetches) {
	for l, polled := range m.sort(fetches) {
		l.enqueue(polled)
	}
	fetches.EachError(func(topic string, id int32, err error) { m.fetchError(topic, id, err) })
}

// fetched is what one poll brought for one partition.
type fetched struct {
	claim   *claim
	records []*kgo.Record
	end     int64
}

func (m *member) sort(fetches kgo.Fetches) map[*lane][]fetched {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[*lane][]fetched{}
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		c := m.claims[partition{p.Topic, p.Partition}]
		if c == nil {
			return
		}
		// Records may come with an error: they lie in front of what cannot be
		// read, and franz-go has moved on behind them.
		out[c.lane] = append(out[c.lane], fetched{c, p.Records, p.LastStableOffset})
	})
	return out
}

// fetchError decides what an error beside the records means.
func (m *member) fetchError(topic string, id int32, err error) {
	var loss *kgo.ErrDataLoss
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, kgo.ErrClientClosed):
	case errors.Is(err, kerr.FencedInstanceID):
		m.engine.fail(m.fencedInstance())
	case errors.Is(err, kerr.OffsetOutOfRange):
		m.offsetOutOfRange(topic, id)
	case errors.As(err, &loss):
		m.engine.fail(newError(ErrOffsetsLost, fmt.Sprintf("the log was truncated below what was read (from %d to %d)", loss.ConsumedTo, loss.ResetTo),
			"check the brokers for an unclean leader election, then set the group's offsets yourself", err).at(topic, id, loss.ConsumedTo))
	case errors.Is(err, kerr.TopicAuthorizationFailed):
		m.engine.fail(newError(ErrUnauthorized, "reading is refused", "allow Read and Describe on the topic", err).at(topic, id, -1))
	case errors.Is(err, kerr.GroupAuthorizationFailed):
		m.engine.fail(newError(ErrUnauthorized, "group "+m.engine.cfg.ApplicationID, "allow Read on the Group", kerr.GroupAuthorizationFailed))
	case errors.Is(err, kerr.InvalidSessionTimeout):
		m.engine.fail(newError(ErrConfig, fmt.Sprintf("SessionTimeout %v is outside the broker's group.min/max.session.timeout.ms", m.engine.cfg.SessionTimeout), "change it", err))
	case errors.Is(err, kerr.InconsistentGroupProtocol):
		m.engine.fail(newError(ErrConfig, fmt.Sprintf("group %q has members with another balancer", m.engine.cfg.ApplicationID), "stop them, or choose another application id", err))
	case errors.Is(err, kerr.GroupMaxSizeReached):
		m.engine.fail(newError(ErrBroker, fmt.Sprintf("group %q is full", m.engine.cfg.ApplicationID), "raise the broker's group.max.size", err))
	case errors.Is(err, kerr.UnknownTopicID), errors.Is(err, kerr.UnknownTopicOrPartition):
		m.checkTopics(m.engine.runCtx)
	case topic != "" && !passes(err):
		m.engine.fail(newError(ErrBroker, "the partition cannot be read any further", "see the error; nothing behind it was processed", err).
			at(topic, id, m.polledTo(partition{topic, id})))
	default:
		m.log.Warn("fetch error; franz-go retries", "topic", topic, "partition", id, "error", err)
	}
}

// passes says whether a partition's error goes away by itself. franz-go gives
// up on a partition, or skips what it cannot read, after any other.
func passes(err error) bool {
	var code *kerr.Error
	if errors.As(err, &code) {
		return code.Retriable
	}
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// polledTo is where the next poll of the partition goes on; -1 when it is not
// ours.
func (m *member) polledTo(p partition) int64 {
	m.mu.Lock()
	c := m.claims[p]
	m.mu.Unlock()
	if c == nil {
		return -1
	}
	c.lane.mu.Lock()
	defer c.lane.mu.Unlock()
	return c.polled
}

// leave gives up the partitions at once, unless the identity was configured:
// franz-go never leaves for a static member, and a process that keeps its name
// is expected back.
func (m *member) leave(ctx context.Context) {
	if m.id.configured {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, m.engine.cfg.HeartbeatInterval*4)
	defer cancel()
	req := kadm.LeaveGroup(m.engine.cfg.ApplicationID).InstanceIDs(m.id.instance)
	if _, err := m.adm.LeaveGroup(ctx, req); err != nil {
		m.log.Warn("not left; the partitions move when the session times out", "error", err)
	}
}
