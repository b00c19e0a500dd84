package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/internal/kafkatest"
	"github.com/weirstream/weir/processor/deadletter"
)

const asProgram = "RUN_AS_FLIGHTS"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		os.Exit(0)
	}
	kafkatest.Main(m)
}

func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return cmd
}

// malformed are lines to inject, each with the error that its dead letter has.
var malformed = []struct{ line, phase, fault string }{
	{`{"date":"2001/01/01 06:55",`, "decode", "value: unexpected end of JSON input"},
	{`not a flight`, "decode", "value: invalid character 'o' in literal null (expecting 'u')"},
	{`{"date":"2001/01/01 06:55","delay":"late","distance":9,"origin":"LAX","destination":"BNA"}`, "decode", "value: json: cannot unmarshal string into Go struct field flight.delay of type int"},
	{`{"date":"2001/01/01 06:55","distance":9,"origin":"LAX","destination":"BNA"}`, "process", "delay is missing"},
	{`{"date":"2001/01/01 06:55","delay":1,"distance":-9,"origin":"LAX","destination":"BNA"}`, "process", "distance is missing or not positive"},
	{`{"date":"1 May","delay":1,"distance":9,"origin":"LAX","destination":"BNA"}`, "process", `date "1 May" is not of the form 2006/01/02 15:04`},
	{`{"date":"2001/01/01 06:55","delay":1,"distance":9,"origin":"LAX","destination":"LAX"}`, "process", `flies from "LAX" to itself`},
	{`{"date":"2001/01/01 06:55","delay":1,"distance":9,"origin":"LAX","destination":"ZZZZ"}`, "process", `airport "ZZZZ" is unknown`},
}

// TestFlightsAreSortedAndMalformedLinesAreDeadLetters feeds the file and the
// malformed lines, and compares with counts taken from the file by other means.
func TestFlightsAreSortedAndMalformedLinesAreDeadLetters(t *testing.T) {
	c := kafkatest.Start(t, kafkatest.Private()) // the topics have fixed names
	outputs := []string{"flights-on-time", "flights-delayed", "flights-late"}
	for _, topic := range append([]string{"flights"}, outputs...) {
		c.CreateTopic(t, topic, 3, nil)
	}
	c.CreateTopic(t, "flights-dlq", 1, nil)
	app := command(t, "--brokers", c.Brokers()[0], "--state-dir", t.TempDir())
	var stderr bytes.Buffer
	app.Stderr = &stderr
	require.NoError(t, app.Start())

	feed := func(file, said string) {
		out, err := command(t, "feed", "--brokers", c.Brokers()[0], "--file", file).Output()
		require.NoError(t, err)
		require.Equal(t, said, string(out))
	}
	var lines bytes.Buffer
	for _, m := range malformed {
		lines.WriteString(m.line + "\n")
	}
	bad := filepath.Join(t.TempDir(), "bad.txt")
	require.NoError(t, os.WriteFile(bad, lines.Bytes(), 0o600))
	feed(filepath.Join("testdata", "flights-2k.json"), "wrote 2000 flights\n")
	feed(bad, "wrote 8 flights\n")
	require.Eventually(t, func() bool {
		at := c.CommittedOffsets(t, "flights")["flights"]
		for p, end := range c.EndOffsets(t, "flights")["flights"] {
			if at[p] != end {
				return false
			}
		}
		return true
	}, 60*time.Second, 100*time.Millisecond)
	require.NoError(t, app.Process.Signal(syscall.SIGTERM))
	require.NoError(t, app.Wait(), stderr.String())

	want := expected(t)
	for _, topic := range outputs {
		got := map[string]int{}
		for _, r := range c.ReadCommitted(t, topic) {
			var a map[string]any
			require.NoError(t, json.Unmarshal(r.Value, &a))
			require.Equal(t, a["from"], string(r.Key))
			require.NotEmpty(t, a["from_city"])
			require.NotEmpty(t, a["to_city"])
			got[identity(a["date"], a["from"], a["to"], a["delay"], a["distance"])]++
		}
		require.Equal(t, want[topic], got, topic)
	}
	letters := map[string][2]string{}
	for _, r := range c.ReadCommitted(t, "flights-dlq") {
		l, err := deadletter.Parse(headers(r))
		require.NoError(t, err)
		require.Equal(t, "flights", l.Topic)
		letters[string(r.Value)] = [2]string{l.Phase, l.Error}
	}
	require.Len(t, letters, len(malformed))
	for _, m := range malformed {
		require.Equal(t, [2]string{m.phase, m.fault}, letters[m.line], m.line)
	}
	require.Empty(t, c.OpenTransactions(t, "flights/"))
}

// TestTheAirportTableCoversTheFile also holds two entries by name.
func TestTheAirportTableCoversTheFile(t *testing.T) {
	cities, err := readCities(airportsCSV)
	require.NoError(t, err)
	require.Len(t, cities, 309)
	require.Equal(t, "Los Angeles, CA", cities["LAX"])
	require.Equal(t, "Nashville, TN", cities["BNA"])
}
