package eos

import (
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// StartAt says where a group that has no committed offset at all begins.
type StartAt int8

const (
	// Earliest begins at the first record that is still there. The default.
	Earliest StartAt = iota
	// Latest begins behind the last record there is when the application
	// starts for the first time.
	Latest
)

// LostOffsets says what happens when the committed offset of a partition is
// older than the oldest record that is still there.
type LostOffsets int8

const (
	// Stop ends Run with ErrOffsetsLost. The default: records nobody has
	// processed are gone, and a person has to know.
	Stop LostOffsets = iota
	// SkipToEarliest counts and logs the lost records and goes on with the
	// oldest record that is still there.
	SkipToEarliest
)

// Config holds every setting of an Engine. The zero value of a field means its
// default; ApplicationID, Brokers and Topics are required.
type Config struct {
	// ApplicationID is the group.id and the prefix of every
	// transactional.id. It may hold letters, digits, '.', '_' and '-'.
	ApplicationID string
	// Brokers are the first addresses to try, as host:port.
	Brokers []string
	// Topics are the input topics. They must exist.
	Topics []string

	// InstanceID names this process for good (group.instance.id): after a
	// restart it has its partitions back at once, and a shutdown does not give
	// them up. Empty: <host>.<n> with n the first index that is free under
	// StateDir, given up again at shutdown. Two live processes with one
	// InstanceID fence each other; the older one stops with ErrFenced.
	InstanceID string
	// StateDir holds the lock files of generated instance ids, one folder for
	// each application. Default: <os.TempDir()>/weir.
	StateDir string

	// Lanes is the number of lanes. Default 1.
	Lanes int
	// Slots is the number of transactional producers of a lane, at least 2.
	// Default 2. A round trip of several milliseconds wants 3.
	Slots int

	// CommitInterval bounds how long a transaction stays open before it is
	// committed. Default 100ms, at least 5ms.
	CommitInterval time.Duration
	// MinAge is the age from which a transaction is committed early when the
	// input has stalled. Default CommitInterval/10, at most CommitInterval.
	MinAge time.Duration
	// MaxRecords and MaxBytes bound the input of one transaction, in records
	// and in bytes of keys and values. Defaults 100000 and 32 MiB.
	MaxRecords int
	MaxBytes   int
	// QueueRecords and QueueBytes bound what is fetched and not yet in a
	// transaction, for each lane. A lane that is full has its partitions
	// paused. Defaults 10000 and 16 MiB.
	QueueRecords int
	QueueBytes   int

	// Start is where a group without any committed offset begins.
	Start StartAt
	// OnLostOffsets says what a committed offset below the log start means.
	OnLostOffsets LostOffsets

	// SessionTimeout is how long the group waits for a silent member.
	// Default 10s. HeartbeatInterval default 500ms: it bounds how long
	// partitions that move stand still.
	SessionTimeout    time.Duration
	HeartbeatInterval time.Duration
	// TransactionTimeout is after how long the broker aborts an open
	// transaction by itself (it looks every 10s). Default 30s. It must exceed
	// CommitInterval, and the time that the handler takes for one record: a
	// record that exceeds it three times in a row ends Run with ErrHandler.
	TransactionTimeout time.Duration
	// RevokeTimeout is the one deadline for everything a revoke asks for.
	// Default 5s. A quarter of it is kept for the commit.
	RevokeTimeout time.Duration
	// DrainTimeout bounds a shutdown: the record in hand, flush, commit,
	// leave. Default 15s. A handler that has not returned by then is left
	// running, and nothing of its record is written.
	DrainTimeout time.Duration
	// StartTimeout bounds the start: reach the brokers, check the topics,
	// fence the predecessor. Default 60s.
	StartTimeout time.Duration

	// OriginHeaders adds the headers weir.topic_id, weir.partition and
	// weir.offset of the input record to every output.
	OriginHeaders bool

	// Ahead is called with the records that the handler is about to get in a lane,
	// of one partition and in order, before the first of them: for what is asked
	// of a database once instead of record by record. It stages nothing. nil: the
	// handler gets them, or if something comes between, some of them, and Ahead
	// the others again. Errors are those of the handler: RetryAfter has the
	// partition wait, any other ends Run. Nil: none.
	Ahead func(lane int, rs []*kgo.Record) error
	// OnRefused is called in place of the handler for a record one of whose
	// outputs the broker refused for good: the transaction was aborted, and
	// what OnRefused stages is the record's result instead. Nil: Run ends with
	// the refusal as its error.
	OnRefused func(r *kgo.Record, refusal *Refusal, out *Out) error

	// Observer sees every step (metrics, tests). Nil: none.
	Observer Observer
	// Logger receives one line for each event a person may have to act on.
	// Nil: slog.Default().
	Logger *slog.Logger

	// Client options are passed to every client the engine makes: TLS, SASL,
	// client id, rack, dialer, fetch and batch sizes, compression. Options
	// that decide exactly-once are refused by New, each with its reason.
	Client []kgo.Opt

	plain bool // see WithoutTransactions
}

func (c Config) withDefaults() Config {
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	num := func(n *int, v int) {
		if *n == 0 {
			*n = v
		}
	}
	num(&c.Lanes, 1)
	num(&c.Slots, 2)
	set(&c.CommitInterval, 100*time.Millisecond)
	set(&c.MinAge, c.CommitInterval/10)
	num(&c.MaxRecords, 100_000)
	num(&c.MaxBytes, 32<<20)
	num(&c.QueueRecords, 10_000)
	num(&c.QueueBytes, 16<<20)
	set(&c.SessionTimeout, 10*time.Second)
	set(&c.HeartbeatInterval, 500*time.Millisecond)
	set(&c.TransactionTimeout, 30*time.Second)
	set(&c.RevokeTimeout, 5*time.Second)
	set(&c.DrainTimeout, 15*time.Second)
	set(&c.StartTimeout, 60*time.Second)
	if c.StateDir == "" {
		c.StateDir = defaultStateDir()
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}
