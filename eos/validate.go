package eos

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// validate reports every fault of a configuration with defaults filled in.
func (c Config) validate() error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	fault(!idPattern.MatchString(c.ApplicationID), "ApplicationID %q may hold letters, digits, '.', '_' and '-', 1 to 200 of them", c.ApplicationID)
	fault(c.InstanceID != "" && !idPattern.MatchString(c.InstanceID), "InstanceID %q may hold letters, digits, '.', '_' and '-', at most 200 of them", c.InstanceID)
	fault(len(c.Brokers) == 0, "Brokers is empty; give at least one host:port")
	fault(len(c.Topics) == 0, "Topics is empty; name the input topics")
	fault(c.Lanes < 1 || c.Lanes > 256, "Lanes %d must be 1 to 256", c.Lanes)
	fault(c.Slots < 2 || c.Slots > 16, "Slots %d must be 2 to 16", c.Slots)
	fault(c.CommitInterval < 5*time.Millisecond, "CommitInterval %v must be at least 5ms", c.CommitInterval)
	fault(c.MinAge < 0 || c.MinAge > c.CommitInterval, "MinAge %v must be between 0 and CommitInterval (%v)", c.MinAge, c.CommitInterval)
	fault(c.MaxRecords < 1, "MaxRecords %d must be positive", c.MaxRecords)
	fault(c.MaxBytes < 1, "MaxBytes %d must be positive", c.MaxBytes)
	fault(c.QueueRecords < 1, "QueueRecords %d must be positive", c.QueueRecords)
	fault(c.QueueBytes < 1, "QueueBytes %d must be positive", c.QueueBytes)
	fault(c.TransactionTimeout <= c.CommitInterval, "TransactionTimeout %v must exceed CommitInterval (%v)", c.TransactionTimeout, c.CommitInterval)
	fault(c.HeartbeatInterval <= 0 || c.HeartbeatInterval*3 > c.SessionTimeout, "HeartbeatInterval %v must be positive and at most a third of SessionTimeout (%v)", c.HeartbeatInterval, c.SessionTimeout)
	fault(c.RevokeTimeout < 100*time.Millisecond, "RevokeTimeout %v must be at least 100ms", c.RevokeTimeout)
	fault(c.DrainTimeout < 100*time.Millisecond, "DrainTimeout %v must be at least 100ms", c.DrainTimeout)
	fault(c.StartTimeout <= 0, "StartTimeout %v must be positive", c.StartTimeout)
	if len(faults) == 0 {
		faults = refusedOptions(c.Client)
	}
	if len(faults) == 0 {
		return nil
	}
	lines := make([]string, len(faults))
	for i, f := range faults {
		lines[i] = f.Error()
	}
	return newError(ErrConfig, strings.Join(lines, "; "), "", nil)
}

// refusal pairs a franz-go option that decides exactly-once with the reason
// why it is not the user's to set.
type refusal struct {
	name   string
	option any
	reason string
}

func refusals() []refusal {
	const group = "the engine owns the group; see Config"
	const once = "would break exactly-once"
	return []refusal{
		{"SeedBrokers", kgo.SeedBrokers, "set Config.Brokers"},
		{"TransactionalID", kgo.TransactionalID, "it is what fences a dead predecessor; the engine makes it from ApplicationID and InstanceID"},
		{"TransactionTimeout", kgo.TransactionTimeout, "set Config.TransactionTimeout"},
		{"InstanceID", kgo.InstanceID, "set Config.InstanceID"},
		{"ConsumerGroup", kgo.ConsumerGroup, "it is Config.ApplicationID"},
		{"ShareGroup", kgo.ShareGroup, "it " + once},
		{"ConsumeTopics", kgo.ConsumeTopics, "set Config.Topics"},
		{"ConsumePartitions", kgo.ConsumePartitions, group},
		{"ConsumeRegex", kgo.ConsumeRegex, "name the topics in Config.Topics"},
		{"ConsumeResetOffset", kgo.ConsumeResetOffset, "set Config.Start and Config.OnLostOffsets"},
		{"ConsumeStartOffset", kgo.ConsumeStartOffset, "set Config.Start"},
		{"FetchIsolationLevel", kgo.FetchIsolationLevel, "input is read with read_committed; anything else " + once},
		{"KeepControlRecords", kgo.KeepControlRecords, "the engine decides"},
		{"Balancers", kgo.Balancers, "only cooperative-sticky lets kept partitions go on while others move"},
		{"GroupProtocol", kgo.GroupProtocol, "only the classic protocol's fencing is proven"},
		{"SessionTimeout", kgo.SessionTimeout, "set Config.SessionTimeout"},
		{"HeartbeatInterval", kgo.HeartbeatInterval, "set Config.HeartbeatInterval"},
		{"RebalanceTimeout", kgo.RebalanceTimeout, "it follows Config.RevokeTimeout"},
		{"BlockRebalanceOnPoll", kgo.BlockRebalanceOnPoll, "the engine always does"},
		{"AdjustFetchOffsetsFn", kgo.AdjustFetchOffsetsFn, "the engine sets start offsets; see Config.Start"},
		{"OnPartitionsAssigned", kgo.OnPartitionsAssigned, "use Config.Observer"},
		{"OnPartitionsRevoked", kgo.OnPartitionsRevoked, "use Config.Observer"},
		{"OnPartitionsLost", kgo.OnPartitionsLost, "use Config.Observer"},
		{"DisableAutoCommit", kgo.DisableAutoCommit, "offsets are committed in the transaction only"},
		{"GreedyAutoCommit", kgo.GreedyAutoCommit, "offsets are committed in the transaction only"},
		{"AutoCommitMarks", kgo.AutoCommitMarks, "offsets are committed in the transaction only"},
		{"AutoCommitInterval", kgo.AutoCommitInterval, "offsets are committed in the transaction only"},
		{"DisableIdempotentWrite", kgo.DisableIdempotentWrite, "it " + once},
		{"AllowIdempotentProduceCancellation", kgo.AllowIdempotentProduceCancellation, "it can lose acknowledged records"},
		{"RequiredAcks", kgo.RequiredAcks, "a transaction needs acks from all in-sync replicas"},
		{"RecordRetries", kgo.RecordRetries, "giving up on a record in doubt " + once},
		{"RecordDeliveryTimeout", kgo.RecordDeliveryTimeout, "giving up on a record in doubt " + once},
		{"ManualFlushing", kgo.ManualFlushing, "the engine flushes"},
		{"MaxVersions", kgo.MaxVersions, "the protocol is pinned to Kafka 3.9, the one that is proven"},
		{"AllowAutoTopicCreation", kgo.AllowAutoTopicCreation, "a misspelt topic must be an error"},
		{"DefaultProduceTopicAlways", kgo.DefaultProduceTopicAlways, "outputs name their topic"},
	}
}

// refusedOptions compares what the user's options set with franz-go's defaults.
func refusedOptions(opts []kgo.Opt) []error {
	if len(opts) == 0 {
		return nil
	}
	user, err := kgo.NewClient(opts...)
	if err != nil {
		return []error{fmt.Errorf("client options: %w", err)}
	}
	defer user.Close()
	var defaults []kgo.Opt
	group, ok := user.OptValue(kgo.ConsumerGroup).(string)
	if ok && group != "" { // a group brings callbacks that the user has not set
		defaults = append(defaults, kgo.ConsumerGroup(group))
	}
	base, err := kgo.NewClient(defaults...)
	if err != nil {
		return []error{err}
	}
	defer base.Close()
	var faults []error
	for _, r := range refusals() {
		inGroup := r.name == "ConsumerGroup" && group != ""
		if inGroup || !sameOption(base.OptValues(r.option), user.OptValues(r.option)) {
			faults = append(faults, fmt.Errorf("client option kgo.%s is refused: %s", r.name, r.reason))
		}
	}
	return faults
}

func sameOption(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		va, vb := reflect.ValueOf(a[i]), reflect.ValueOf(b[i])
		if va.IsValid() && va.Kind() == reflect.Func {
			if !vb.IsValid() || va.IsNil() != vb.IsNil() || va.Pointer() != vb.Pointer() {
				return false
			}
			continue
		}
		if !reflect.DeepEqual(a[i], b[i]) {
			return false
		}
	}
	return true
}

// asError gives err as an *Error: as it is, or with ErrBroker as its cause.
func asError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return newError(ErrBroker, "the engine stopped", "", err)
}
