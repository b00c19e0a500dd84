package processor_test

import (
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/internal/kafkatest"
	"github.com/weirstream/weir/processor"
)

// freeAddr is an address that nobody listens on.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	return l.Addr().String()
}

// get asks the application; code 0: no answer.
func get(t *testing.T, addr, path string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+path, nil)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { require.NoError(t, resp.Body.Close()) }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(body)
}

func TestHealthAndMetricsFollowTheApplication(t *testing.T) {
	c := kafkatest.Start(t)
	in, addr := c.Topic(t, "in", 1), freeAddr(t)
	reg := prometheus.NewPedanticRegistry()
	id, _, app := processing(t, c, in, processor.WithHTTPAddr(addr), processor.WithRegisterer(reg))
	code, body := get(t, addr, "/readyz")
	require.Equal(t, http.StatusOK, code, body)
	code, body = get(t, addr, "/livez")
	require.Equal(t, http.StatusOK, code, body)
	code, body = get(t, addr, "/topology")
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, app.app.Describe()+"\n", body)
	code, body = get(t, addr, "/topology.mmd")
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, app.app.Mermaid()+"\n", body)

	label := `{app="` + id + `"}`
	for _, line := range []string{
		"weir_input_records_total" + label + " 1",
		"weir_output_records_total" + label + " 1",
		"weir_input_bytes_total" + label + " 6",
		`weir_lag_offsets{app="` + id + `",partition="0",topic="` + in + `"} 0`,
		`weir_transactions_total{app="` + id + `",outcome="committed",reason=""} 1`,
		"weir_group_joined" + label + " 1",
	} {
		require.Eventually(t, func() bool {
			_, body = get(t, addr, "/metrics")
			return containsLine(body, line)
		}, waitLong, waitStep, line)
	}
	problems, err := testutil.GatherAndLint(reg)
	require.NoError(t, err)
	require.Empty(t, problems)

	app.stop(t)
	left, err := reg.Gather()
	require.NoError(t, err)
	require.Empty(t, left, "the metrics end with Run")
	code, _ = get(t, addr, "/livez")
	require.Zero(t, code, "the server ends with Run")
}

func TestALongRunningRecordFailsLiveness(t *testing.T) {
	c := kafkatest.Start(t)
	in, out, id, addr := c.Topic(t, "in", 1), c.Topic(t, "out", 1), kafkatest.Name("stuck"), freeAddr(t)
	release := make(chan struct{})
	put(t, c, in, "1")
	app := start(t, c, id, numbers(in, out, func(n int) (int, error) {
		<-release
		return n, nil
	}), processor.WithHTTPAddr(addr), processor.WithStuckAfter(time.Second))
	require.Eventually(t, func() bool {
		code, body := get(t, addr, "/livez")
		return code == http.StatusServiceUnavailable && len(body) > 0
	}, waitLong, waitStep)
	close(release)
	require.Eventually(t, func() bool {
		code, _ := get(t, addr, "/livez")
		return code == http.StatusOK
	}, waitLong, waitStep)
	drained(t, c, id, in)
	app.stop(t)
}

func TestAnApplicationThatCannotReachTheBrokersIsLiveAndNotReady(t *testing.T) {
	t.Parallel()
	addr := freeAddr(t)
	app, err := processor.New("app", split("lines", "words"), processor.WithBrokers("127.0.0.1:1"),
		processor.WithHTTPAddr(addr), processor.WithStartTimeout(2*time.Second), processor.WithStateDir(t.TempDir()))
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- app.Run(t.Context()) }()
	require.Eventually(t, func() bool {
		live, _ := get(t, addr, "/livez")
		ready, why := get(t, addr, "/readyz")
		return live == http.StatusOK && ready == http.StatusServiceUnavailable && why == "not a member of the group\n"
	}, waitLong, 20*time.Millisecond)
	require.Error(t, <-done)
	ready, why := app.Ready()
	require.False(t, ready)
	require.Equal(t, "stopped by an error", why)
}

func TestTwoApplicationsShareARegisterer(t *testing.T) {
	c := kafkatest.Start(t)
	reg := prometheus.NewRegistry()
	in := c.Topic(t, "in", 1)
	one, out, first := processing(t, c, in, processor.WithRegisterer(reg))
	_, _, second := processing(t, c, c.Topic(t, "in", 1), processor.WithRegisterer(reg))
	n, err := testutil.GatherAndCount(reg, "weir_group_joined")
	require.NoError(t, err)
	require.Equal(t, 2, n)
	again := start(t, c, one, split(in, out), processor.WithRegisterer(reg))
	require.EqualError(t, again.end(t), "eos: the Registerer has the metrics of an application with this id already: give each its own instance id or Registerer")
	first.stop(t)
	second.stop(t)
}
