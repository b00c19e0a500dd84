package main

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/internal/devcluster"
)

const asProgram = "RUN_AS_HELLO"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

func TestLinesBecomeWords(t *testing.T) {
	fake, err := devcluster.Start(devcluster.Options{Topics: map[string]int32{"lines": 1, "words": 1}})
	require.NoError(t, err)
	t.Cleanup(fake.Close)
	app := exec.CommandContext(t.Context(), os.Args[0], "--brokers", fake.Brokers()[0], "--state-dir", t.TempDir())
	app.Env = append(os.Environ(), asProgram+"=1")
	var stderr bytes.Buffer
	app.Stderr = &stderr
	require.NoError(t, app.Start())

	client, err := kgo.NewClient(kgo.SeedBrokers(fake.Brokers()...), kgo.ConsumeTopics("words"), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	require.NoError(t, err)
	t.Cleanup(client.Close)
	require.NoError(t, client.ProduceSync(t.Context(), &kgo.Record{Topic: "lines", Value: []byte("to be  or")}).FirstErr())
	var words []string
	for len(words) < 3 {
		fetches := client.PollFetches(t.Context())
		require.NoError(t, fetches.Err())
		fetches.EachRecord(func(r *kgo.Record) { words = append(words, string(r.Value)) })
	}
	require.Equal(t, []string{"to", "be", "or"}, words)
	require.NoError(t, app.Process.Signal(syscall.SIGTERM))
	require.NoError(t, app.Wait(), stderr.String())
	require.Empty(t, stderr.String())
}

func TestTheProgramHasAtMost25Lines(t *testing.T) {
	text, err := os.ReadFile("main.go")
	require.NoError(t, err)
	require.LessOrEqual(t, bytes.Count(text, []byte("\n")), 25)
}
