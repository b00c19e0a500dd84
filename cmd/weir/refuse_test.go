package main

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/internal/devcluster"
)

func TestBadUseIsOneLineAndExitCode2(t *testing.T) {
	t.Parallel()
	for line, args := range map[string][]string{
		"error parsing commandline arguments: flag provided but not defined: -bla":                                                     {"dev", "--bla"},
		`error parsing commandline arguments: invalid value "x" for flag -topic: "x" is not name:partitions with at least 1 partition`: {"dev", "--topic", "x"},
		`"start" is no command of dev: create, produce, consume; see weir dev --help`:                                                  {"dev", "start"},
		"port 70000: must be 0 to 65535":                          {"dev", "--port", "70000"},
		"NAME is missing; see --help":                             {"dev", "create"},
		"0 partitions: must be 1 to 10000":                        {"dev", "create", "x", "--partitions", "0"},
		`unexpected argument "y"; see --help`:                     {"dev", "consume", "x", "y"},
		"count -1: must not be negative":                          {"dev", "consume", "x", "--count", "-1"},
		"name a command: list, show, replay; see weir dlq --help": {"dlq"},
		"--topic is missing; see --help":                          {"dlq", "list"},
		`"7" is not PARTITION/OFFSET, such as 0/42`:               {"dlq", "show", "--topic", "x", "7"},
		`error parsing commandline arguments: invalid value "effect" for flag -phase: must be decode, process or produce`: {"dlq", "list", "--phase", "effect"},
		"choose letters by --partition, --from, --to, --origin, --phase or --pending, or all of them by --all alone":      {"dlq", "replay", "--topic", "x"},
	} {
		code, stdout, stderr := program(t, "", args...)
		require.Equal(t, "weir: "+line+"\n", stderr)
		require.Equal(t, 2, code, line)
		require.Empty(t, stdout)
	}
}

func TestUnreachableBrokersAreSaidWithinTheDeadline(t *testing.T) {
	t.Parallel()
	silent, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0") // accepts, and never answers
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	for addr, cause := range map[string]string{
		"127.0.0.1:1":          "no answer from 127.0.0.1:1: unable to dial: dial tcp 127.0.0.1:1: connect: connection refused; check the address",
		silent.Addr().String(): "no answer from " + silent.Addr().String() + " within 1s; check the address",
	} {
		for _, args := range [][]string{
			{"dev", "produce", "x"},
			{"dev", "consume", "x"},
			{"dev", "create", "x"},
			{"dlq", "list", "--topic", "x"},
			{"dlq", "show", "0/1", "--topic", "x"},
			{"dlq", "replay", "--topic", "x", "--all"},
		} {
			began := time.Now()
			code, _, stderr := program(t, "", append(args, "--brokers", addr, "--timeout", "1s")...)
			what := "the topics cannot be listed: "
			if args[1] == "create" {
				what = "topic x cannot be created: "
			}
			require.Equal(t, "weir: "+what+cause+"\n", stderr)
			require.Equal(t, 1, code)
			require.Less(t, time.Since(began), 8*time.Second)
		}
	}
}

func TestAMissingTopicIsNamed(t *testing.T) {
	t.Parallel()
	fake, err := devcluster.Start(devcluster.Options{})
	require.NoError(t, err)
	t.Cleanup(fake.Close)
	for _, args := range [][]string{
		{"dev", "produce", "x"},
		{"dev", "consume", "x"},
		{"dev", "consume", "x", "--follow"},
		{"dlq", "list", "--topic", "x"},
		{"dlq", "show", "0/1", "--topic", "x"},
		{"dlq", "replay", "--topic", "x", "--all"},
	} {
		code, _, stderr := program(t, "", append(args, "--brokers", fake.Brokers()[0])...)
		require.Equal(t, "weir: topic x does not exist at "+fake.Brokers()[0]+"; create it, or mend the name\n", stderr)
		require.Equal(t, 1, code)
	}
}

func TestATakenPortIsNamed(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = taken.Close() })
	_, port, err := net.SplitHostPort(taken.Addr().String())
	require.NoError(t, err)
	code, _, stderr := program(t, "", "dev", "--port", port)
	require.Equal(t, 1, code)
	require.Equal(t, "weir: listen on 127.0.0.1:"+port+": listen tcp 127.0.0.1:"+port+
		": bind: address already in use; choose another port with --port, or stop what listens there\n", stderr)
}
