package main

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/internal/kafkatest"
)

const asProgram = "RUN_AS_FRANZGO"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		os.Exit(0)
	}
	kafkatest.Main(m)
}

func TestLinesBecomeShouts(t *testing.T) {
	c := kafkatest.Start(t, kafkatest.Private()) // the topics have fixed names
	c.CreateTopic(t, "lines", 1, nil)
	c.CreateTopic(t, "shouts", 1, nil)
	c.Produce(t, &kgo.Record{Topic: "lines", Value: []byte("to be")}, &kgo.Record{Topic: "lines", Value: []byte("or not")})
	app := exec.CommandContext(t.Context(), os.Args[0], "--brokers", c.Brokers()[0], "--state-dir", t.TempDir())
	app.Env = append(os.Environ(), asProgram+"=1")
	var stderr bytes.Buffer
	app.Stderr = &stderr
	require.NoError(t, app.Start())
	require.Eventually(t, func() bool { return c.CommittedOffsets(t, "shout")["lines"][0] == 2 }, 30*time.Second, 50*time.Millisecond)
	require.NoError(t, app.Process.Signal(syscall.SIGTERM))
	require.NoError(t, app.Wait(), stderr.String())

	got := c.ReadCommitted(t, "shouts")
	require.Len(t, got, 2)
	require.Equal(t, "TO BE", string(got[0].Value))
	require.Equal(t, "OR NOT", string(got[1].Value))
	require.Empty(t, c.OpenTransactions(t, "shout/"))
}
