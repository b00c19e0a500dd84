package eos_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/internal/kafkatest"
)

// deny takes a right from everybody, whatever has been allowed.
func deny(t *testing.T, c *kafkatest.Cluster, on *kadm.ACLBuilder, op kadm.ACLOperation) {
	t.Helper()
	everything := *on
	for _, acl := range []*kadm.ACLBuilder{
		everything.Allow("User:*").AllowHosts("*").Operations(kadm.OpAll), // one ACL ends "everyone if there is none"
		on.Deny("User:ANONYMOUS").DenyHosts("*").Operations(op),
	} {
		created, err := c.Admin(t).CreateACLs(t.Context(), acl.ResourcePatternType(kadm.ACLPatternLiteral))
		require.NoError(t, err)
		for _, r := range created {
			require.NoError(t, r.Err)
		}
	}
}

// allowed deletes what deny made.
func allowed(t *testing.T, c *kafkatest.Cluster) {
	t.Helper()
	filter := kmsg.NewPtrDeleteACLsRequest()
	f := kmsg.NewDeleteACLsRequestFilter()
	f.ResourceType, f.ResourcePatternType = kmsg.ACLResourceTypeAny, kmsg.ACLResourcePatternTypeAny
	f.Operation, f.PermissionType = kmsg.ACLOperationAny, kmsg.ACLPermissionTypeAny
	filter.Filters = append(filter.Filters, f)
	_, err := filter.RequestWith(t.Context(), c.Client(t))
	require.NoError(t, err)
}

// TestRightsLostWhileRunning takes away one right after another.
func TestRightsLostWhileRunning(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t,
		kafkatest.Config("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer"),
		kafkatest.Config("allow.everyone.if.no.acl.found", "true"),
		kafkatest.Config("super.users", "User:nobody-of-these-tests"))
	in, out := c.Topic(t, "in", 1), c.Topic(t, "out", 1)
	for _, tc := range []struct {
		name string
		on   func(app string) *kadm.ACLBuilder
		op   kadm.ACLOperation
		want func(app string) []string // any of
		is   error
	}{
		{"group", func(app string) *kadm.ACLBuilder { return kadm.NewACLs().Groups(app) }, kadm.OpRead, func(app string) []string {
			return []string{"eos: group " + app + ": " + text(kerr.GroupAuthorizationFailed) + "; allow Read on the Group"}
		}, eos.ErrUnauthorized},
		{"transactional id", func(app string) *kadm.ACLBuilder {
			return kadm.NewACLs().TransactionalIDs(app+"/blue/0/0", app+"/blue/0/1")
		}, kadm.OpWrite, func(app string) []string {
			const rest = "; allow Write and Describe on TransactionalId with prefix "
			return []string{
				"eos: transactional id " + app + "/blue/0/0: " + text(kerr.TransactionalIDAuthorizationFailed) + rest + app + "/",
				"eos: transactional id " + app + "/blue/0/1: " + text(kerr.TransactionalIDAuthorizationFailed) + rest + app + "/",
			}
		}, eos.ErrUnauthorized},
		{"reading", func(string) *kadm.ACLBuilder { return kadm.NewACLs().Topics(in) }, kadm.OpRead, func(string) []string {
			return []string{
				"eos: " + in + "[0]: reading is refused: " + text(kerr.TopicAuthorizationFailed) + "; allow Read and Describe on the topic",
				"eos: offsets of the input topics: " + text(kerr.TopicAuthorizationFailed) + "; allow Read on the input topics",
			}
		}, eos.ErrUnauthorized},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg := config(t, c, kafkatest.Name("rights"), in)
			cfg.InstanceID, cfg.Start = "blue", eos.Latest
			r := begin(t, cfg, copyTo(out))
			soon(t, func() bool { return len(r.engine.Status().Partitions) == 1 }, "not joined")
			produce(t, c, in, "before "+tc.name)
			drained(t, c, cfg.ApplicationID, in)
			deny(t, c, tc.on(cfg.ApplicationID), tc.op)
			produce(t, c, in, "after "+tc.name)
			err := r.ended()
			require.ErrorIs(t, err, tc.is)
			require.Contains(t, tc.want(cfg.ApplicationID), err.Error())
			allowed(t, c)

			r = begin(t, cfg, copyTo(out))
			drained(t, c, cfg.ApplicationID, in)
			require.NoError(t, r.stop())
		})
	}
	require.Equal(t, []string{
		"before group", "after group", "before transactional id", "after transactional id", "before reading", "after reading",
	}, values(t, c, out), "nothing is lost or doubled")

	t.Run("writing", func(t *testing.T) {
		cfg := config(t, c, kafkatest.Name("rights"), in)
		deny(t, c, kadm.NewACLs().Topics(out), kadm.OpWrite)
		err := begin(t, cfg, copyTo(out)).ended()
		require.ErrorIs(t, err, eos.ErrRefused)
		require.EqualError(t, err, "eos: "+in+"[0]@0: its output cannot be written: output to "+out+
			" refused (key 0 bytes, value 12 bytes): "+text(kerr.TopicAuthorizationFailed)+"; mend the output, or handle the refusal")
		allowed(t, c)
	})
}

// text is an error of Kafka's as an *eos.Error prints it.
func text(err *kerr.Error) string { return strings.TrimSuffix(err.Error(), ".") }
