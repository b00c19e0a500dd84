package eos_test

import (
	"context"
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"github.com/weirstream/weir/eos"
)

func good() eos.Config {
	return eos.Config{ApplicationID: "orders", Brokers: []string{"127.0.0.1:1"}, Topics: []string{"in"}}
}

func TestNewNamesEveryFaultAtOnce(t *testing.T) {
	t.Parallel()
	_, err := eos.New(eos.Config{
		ApplicationID: "a/b", InstanceID: "c d", Lanes: -1, Slots: 1, CommitInterval: time.Millisecond, MinAge: time.Second,
		MaxRecords: -1, MaxBytes: -2, QueueRecords: -3, QueueBytes: -4,
		SessionTimeout: time.Second, HeartbeatInterval: time.Second, TransactionTimeout: time.Millisecond,
		RevokeTimeout: time.Millisecond, DrainTimeout: time.Millisecond, StartTimeout: -1,
	})
	require.ErrorIs(t, err, eos.ErrConfig)
	require.EqualError(t, err, "eos: "+strings.Join([]string{
		`ApplicationID "a/b" may hold letters, digits, '.', '_' and '-', 1 to 200 of them`,
		`InstanceID "c d" may hold letters, digits, '.', '_' and '-', at most 200 of them`,
		"Brokers is empty; give at least one host:port",
		"Topics is empty; name the input topics",
		"Lanes -1 must be 1 to 256",
		"Slots 1 must be 2 to 16",
		"CommitInterval 1ms must be at least 5ms",
		"MinAge 1s must be between 0 and CommitInterval (1ms)",
		"MaxRecords -1 must be positive",
		"MaxBytes -2 must be positive",
		"QueueRecords -3 must be positive",
		"QueueBytes -4 must be positive",
		"TransactionTimeout 1ms must exceed CommitInterval (1ms)",
		"HeartbeatInterval 1s must be positive and at most a third of SessionTimeout (1s)",
		"RevokeTimeout 1ms must be at least 100ms",
		"DrainTimeout 1ms must be at least 100ms",
		"StartTimeout -1ns must be positive",
	}, "; "))
}

func TestNewTakesTheZeroValueForTheDefault(t *testing.T) {
	t.Parallel()
	e, err := eos.New(good())
	require.NoError(t, err)
	require.Equal(t, eos.Status{}, e.Status(), "before Run")
}

func TestRunMayBeCalledOnce(t *testing.T) {
	t.Parallel()
	e, err := eos.New(good())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, e.Run(ctx, nil), "ended before it began")
	err = e.Run(ctx, nil)
	require.EqualError(t, err, "eos: Run was called twice; make a new Engine")
	require.ErrorIs(t, err, eos.ErrConfig)
}

func TestNewTakesOptionsThatDecideNothing(t *testing.T) {
	t.Parallel()
	cfg := good()
	cfg.Client = []kgo.Opt{
		kgo.DialTLSConfig(&tls.Config{MinVersion: tls.VersionTLS13}),
		kgo.SASL(plain.Auth{User: "u", Pass: "p"}.AsMechanism()),
		kgo.ClientID("mine"), kgo.Rack("a"), kgo.WithLogger(kgo.BasicLogger(nil, kgo.LogLevelNone, nil)),
		kgo.FetchMaxBytes(1 << 20), kgo.FetchMaxPartitionBytes(1 << 19), kgo.FetchMaxWait(time.Second), kgo.FetchMinBytes(10),
		kgo.ProducerBatchCompression(kgo.ZstdCompression()), kgo.ProducerLinger(5 * time.Millisecond), kgo.ProducerBatchMaxBytes(1 << 20),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.MaxBufferedRecords(100),
		kgo.MetadataMinAge(time.Second), kgo.MetadataMaxAge(time.Minute), kgo.RequestRetries(3), kgo.RetryTimeout(time.Second),
	}
	_, err := eos.New(cfg)
	require.NoError(t, err)

	cfg.Client = []kgo.Opt{kgo.Dialer((&net.Dialer{Timeout: time.Second}).DialContext)}
	_, err = eos.New(cfg)
	require.NoError(t, err)
}

func TestNewRefusesOptionsThatDecideExactlyOnce(t *testing.T) {
	t.Parallel()
	const group = "the engine owns the group; see Config"
	const offsets = "offsets are committed in the transaction only"
	for name, tc := range map[string]struct {
		opts []kgo.Opt
		want []string // "option: reason"
	}{
		"brokers":     {[]kgo.Opt{kgo.SeedBrokers("elsewhere:9092")}, []string{"SeedBrokers is refused: set Config.Brokers"}},
		"transaction": {[]kgo.Opt{kgo.TransactionalID("mine")}, []string{"TransactionalID is refused: it is what fences a dead predecessor; the engine makes it from ApplicationID and InstanceID"}},
		"timeout":     {[]kgo.Opt{kgo.TransactionTimeout(time.Second)}, []string{"TransactionTimeout is refused: set Config.TransactionTimeout"}},
		"isolation": {[]kgo.Opt{kgo.FetchIsolationLevel(kgo.ReadUncommitted()), kgo.ConsumeTopics("x")}, []string{
			"ConsumeTopics is refused: set Config.Topics",
		}},
		"read_committed": {[]kgo.Opt{kgo.FetchIsolationLevel(kgo.ReadCommitted())}, []string{
			"FetchIsolationLevel is refused: input is read with read_committed; anything else would break exactly-once",
		}},
		"group": {[]kgo.Opt{kgo.ConsumerGroup("g"), kgo.InstanceID("i")}, []string{
			"InstanceID is refused: set Config.InstanceID", "ConsumerGroup is refused: it is Config.ApplicationID",
		}},
		"manual": {[]kgo.Opt{kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{"in": {0: kgo.NewOffset()}})}, []string{
			"ConsumePartitions is refused: " + group,
		}},
		"auto commit": {[]kgo.Opt{kgo.ConsumerGroup("g"), kgo.ConsumeTopics("x"), kgo.DisableAutoCommit()}, []string{
			"ConsumerGroup is refused: it is Config.ApplicationID", "ConsumeTopics is refused: set Config.Topics", "DisableAutoCommit is refused: " + offsets,
		}},
		"acks":     {[]kgo.Opt{kgo.RequiredAcks(kgo.LeaderAck()), kgo.DisableIdempotentWrite()}, []string{"DisableIdempotentWrite is refused: it would break exactly-once", "RequiredAcks is refused: a transaction needs acks from all in-sync replicas"}},
		"retries":  {[]kgo.Opt{kgo.RecordRetries(3)}, []string{"RecordRetries is refused: giving up on a record in doubt would break exactly-once"}},
		"deadline": {[]kgo.Opt{kgo.RecordDeliveryTimeout(time.Minute)}, []string{"RecordDeliveryTimeout is refused: giving up on a record in doubt would break exactly-once"}},
		"creation": {[]kgo.Opt{kgo.AllowAutoTopicCreation()}, []string{"AllowAutoTopicCreation is refused: a misspelt topic must be an error"}},
		"reset":    {[]kgo.Opt{kgo.ConsumeResetOffset(kgo.NewOffset().AtStart())}, []string{"ConsumeResetOffset is refused: set Config.Start and Config.OnLostOffsets"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := good()
			cfg.Client = tc.opts
			_, err := eos.New(cfg)
			require.EqualError(t, err, "eos: client option kgo."+strings.Join(tc.want, "; client option kgo."))
		})
	}
}

func TestNewRefusesOptionsThatDoNotFitTogether(t *testing.T) {
	t.Parallel()
	cfg := good()
	cfg.Client = []kgo.Opt{kgo.OnPartitionsRevoked(func(context.Context, *kgo.Client, map[string][]int32) {})}
	_, err := eos.New(cfg)
	require.EqualError(t, err, "eos: client options: invalid group partition assigned/revoked/lost functions set when a group was not specified")
	require.ErrorIs(t, err, eos.ErrConfig)
}
