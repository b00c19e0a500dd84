package processor_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/processor"
	"github.com/weirstream/weir/topology"
)

func TestTheProgramRefusesBadUseWithOneLine(t *testing.T) {
	t.Parallel()
	hello := split("lines", "words")
	for name, c := range map[string]struct {
		build func(*topology.Builder)
		opts  []processor.Option
		args  []string
		code  int
		line  string
	}{
		"no brokers": {hello, nil, nil, 2, "app: Brokers is empty; give at least one host:port"},
		"unknown flag": {
			hello, nil,
			[]string{"--lane", "3"},
			2,
			"app: error parsing commandline arguments: flag provided but not defined: -lane; see --help",
		},
		"stray argument": {hello, nil, []string{"start"}, 2, `app: unexpected argument "start"; see --help`},
		"bad policy": {
			hello, nil,
			[]string{"--on-decode-error", "drop"},
			2,
			`app: error parsing commandline arguments: invalid value "drop" for flag -on-decode-error: "drop" is none of fail, skip, dead-letter; see --help`,
		},
		"endless retry": {
			hello,
			[]processor.Option{processor.WithErrorPolicy(topology.PhaseProcess, processor.Retry(3, time.Second, processor.Retry(3, time.Second, processor.Skip())))},
			nil, 2,
			"app: error policy of phase process: a Retry that ends in a Retry has no end: end it with Fail, Skip or DeadLetter",
		},
		"no topology": {nil, nil, nil, 2, "app: the function that builds the topology is nil"},
		"refused client option": {
			hello,
			[]processor.Option{processor.WithClientOptions(kgo.Balancers(kgo.RangeBalancer()))},
			[]string{"--brokers", "127.0.0.1:1"},
			2,
			"app: client option kgo.Balancers is refused: only cooperative-sticky lets kept partitions go on while others move",
		},
		"unreachable broker": {
			hello, nil,
			[]string{"--brokers", "127.0.0.1:1", "--start-timeout", "1s"},
			1,
			"app: no answer from 127.0.0.1:1 within 1s: unable to dial: dial tcp 127.0.0.1:1: connect: connection refused; check the addresses, TLS and SASL",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			code, _, stderr := program(t, "app", c.build, c.opts, c.args...)
			require.Equal(t, c.line+"\n", stderr)
			require.Equal(t, c.code, code)
			require.Less(t, time.Since(began), 10*time.Second)
		})
	}
}

func TestDescribeNeedsNoBroker(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := program(t, "app", split("lines", "words"), nil, "--describe")
	require.Zero(t, code)
	require.Empty(t, stderr)
	require.Contains(t, stdout, "sub-topology 0")
	code, stdout, _ = program(t, "app", split("lines", "words"), nil, "--mermaid")
	require.Zero(t, code)
	require.True(t, strings.HasPrefix(stdout, "flowchart LR\n"))
}

func TestHelpExplainsEveryFlag(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := program(t, "app", split("lines", "words"), nil, "--help")
	require.Zero(t, code)
	require.Empty(t, stderr)
	for _, flag := range []string{
		"--brokers host:port,...", "--commit-interval time", "--lanes number", "--slots number", "--instance-id name", "--state-dir folder",
		"--http host:port", "--dead-letter-topic topic", "--on-decode-error policy", "--on-process-error policy", "--on-produce-error policy",
		"--log-level level", "--log-format format", "--describe", "--mermaid", "--start-timeout time", "--start where", "--lost-offsets what", "--session-timeout time",
	} {
		require.Contains(t, stdout, "  "+flag)
	}
	require.Contains(t, stdout, "(default 100ms)")
}

func TestTheEnvironmentStandsInForFlags(t *testing.T) {
	t.Setenv("WEIR_BROKERS", "127.0.0.1:1")
	t.Setenv("WEIR_START_TIMEOUT", "200ms")
	code, _, stderr := program(t, "app", split("lines", "words"), nil)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "no answer from 127.0.0.1:1 within 200ms")
}
