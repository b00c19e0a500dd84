package processor_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/internal/kafkatest"
	"github.com/weirstream/weir/processor"
)

// deny takes one right on a resource from everybody and leaves the others.
func deny(t *testing.T, adm *kadm.Client, on func(*kadm.ACLBuilder) *kadm.ACLBuilder, pattern kadm.ACLPattern, what kadm.ACLOperation) {
	t.Helper()
	for _, b := range []*kadm.ACLBuilder{
		kadm.NewACLs().Deny("User:*").DenyHosts("*").Operations(what),
		kadm.NewACLs().Allow("User:*").AllowHosts("*").Operations(kadm.OpAll),
	} {
		created, err := adm.CreateACLs(t.Context(), on(b).ResourcePatternType(pattern))
		require.NoError(t, err)
		for _, c := range created {
			require.NoError(t, c.Err)
		}
	}
}

func TestLostRightsStopTheApplication(t *testing.T) {
	c := kafkatest.Start(t,
		kafkatest.Config("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer"),
		kafkatest.Config("allow.everyone.if.no.acl.found", "true"))
	adm := c.Admin(t)
	topic := func(name string) func(*kadm.ACLBuilder) *kadm.ACLBuilder {
		return func(b *kadm.ACLBuilder) *kadm.ACLBuilder { return b.Topics(name) }
	}
	for name, tc := range map[string]struct {
		take  func(t *testing.T, id, in, out string)
		cause error
		text  string
	}{
		"write": {
			func(t *testing.T, _, _, out string) {
				t.Helper()
				deny(t, adm, topic(out), kmsg.ACLResourcePatternTypeLiteral, kadm.OpWrite)
			},
			eos.ErrRefused,
			"eos: IN[0]@1: its output cannot be written: output to OUT refused (key 1 bytes, value 6 bytes): " +
				"TOPIC_AUTHORIZATION_FAILED: Not authorized to access topics: [Topic authorization failed.]; mend the output, or handle the refusal",
		},
		"read": {
			func(t *testing.T, _, in, _ string) {
				t.Helper()
				deny(t, adm, topic(in), kmsg.ACLResourcePatternTypeLiteral, kadm.OpRead)
			},
			eos.ErrUnauthorized,
			"eos: IN[0]: reading is refused: TOPIC_AUTHORIZATION_FAILED: Not authorized to access topics: [Topic authorization failed.]; allow Read and Describe on the topic",
		},
		"group": {
			func(t *testing.T, id, _, _ string) {
				t.Helper()
				deny(t, adm, func(b *kadm.ACLBuilder) *kadm.ACLBuilder { return b.Groups(id) }, kmsg.ACLResourcePatternTypeLiteral, kadm.OpRead)
			},
			eos.ErrUnauthorized, "eos: group APP: GROUP_AUTHORIZATION_FAILED: Not authorized to access group: Group authorization failed; allow Read on the Group",
		},
		"transactional id": {
			func(t *testing.T, id, _, _ string) {
				t.Helper()
				deny(t, adm, func(b *kadm.ACLBuilder) *kadm.ACLBuilder { return b.TransactionalIDs(id + "/") }, kmsg.ACLResourcePatternTypePrefixed, kadm.OpWrite)
			},
			eos.ErrUnauthorized,
			"eos: transactional id APP/one/0/0: TRANSACTIONAL_ID_AUTHORIZATION_FAILED: Transactional ID authorization failed; " +
				"allow Write and Describe on TransactionalId with prefix APP/",
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := c.Topic(t, "in", 1)
			id, out, app := processing(t, c, in, processor.WithInstanceID("one"))
			tc.take(t, id, in, out)
			put(t, c, in, "second")
			err := app.end(t)
			require.ErrorIs(t, err, tc.cause)
			text := strings.NewReplacer("IN[", in+"[", "OUT ", out+" ", "APP", id).Replace(tc.text)
			require.Equal(t, text, strings.Replace(err.Error(), "/one/0/1:", "/one/0/0:", 1), "either slot may meet it")
		})
	}
}

func TestCredentialsReachEveryClient(t *testing.T) {
	t.Parallel()
	fake, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.EnableSASL(), kfake.Superuser("PLAIN", "app", "secret"))
	require.NoError(t, err)
	t.Cleanup(fake.Close)
	args := []string{"--brokers", fake.ListenAddrs()[0], "--start-timeout", "2s", "--state-dir", t.TempDir()}
	login := processor.WithClientOptions(kgo.SASL(plain.Auth{User: "app", Pass: "secret"}.AsMechanism()))
	code, _, stderr := program(t, "app", split("lines", "words"), []processor.Option{login}, args...)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "app: lines: the input topic does not exist; ")

	code, _, stderr = program(t, "app", split("lines", "words"), nil, args...)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "app: no answer from "+fake.ListenAddrs()[0]+" within 2s: ")
	require.Contains(t, stderr, "; check the addresses, TLS and SASL\n")
}
