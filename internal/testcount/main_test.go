package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const passing = `{"Time":"2026-12-01T10:00:00Z","Action":"start","Package":"a"}
{"Time":"2026-12-01T10:00:00Z","Action":"run","Package":"a","Test":"TestOne"}
{"Time":"2026-12-01T10:00:01Z","Action":"pass","Package":"a","Test":"TestOne","Elapsed":1}
{"Time":"2026-12-01T10:00:02Z","Action":"pass","Package":"a","Elapsed":2}
{"Time":"2026-12-01T10:00:02Z","Action":"start","Package":"none"}
{"Time":"2026-12-01T10:00:02Z","Action":"skip","Package":"none"}
`

func TestRunFailsUnlessEveryTestRanAndPassed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, events, fault, total string
	}{
		{name: "all passed; a package without tests is no skipped test", events: passing, total: "1 passed, 0 failed, 0 skipped"},
		{
			name: "skipped", fault: "skipped: b TestTwo", total: "1 passed, 0 failed, 1 skipped",
			events: passing + `{"Action":"skip","Package":"b","Test":"TestTwo"}` + "\n",
		},
		{
			name: "failed", fault: "failed: b TestTwo", total: "1 passed, 1 failed, 0 skipped",
			events: passing + `{"Action":"fail","Package":"b","Test":"TestTwo"}` + "\n" + `{"Action":"fail","Package":"b"}`,
		},
		{
			name: "package did not build", fault: "failed: b", total: "1 passed, 1 failed, 0 skipped",
			events: passing + `{"Action":"fail","Package":"b","FailedBuild":"b"}`,
		},
		{
			name: "process died in a test", fault: "failed: b TestTwo (never ended)", total: "1 passed, 1 failed, 0 skipped",
			events: passing + `{"Action":"run","Package":"b","Test":"TestTwo"}` + "\n" + `{"Action":"fail","Package":"b"}`,
		},
		{name: "nothing ran", events: `{"Action":"skip","Package":"none"}`, fault: "no test ran in phase unit", total: "0 passed, 0 failed, 0 skipped"},
		{name: "not events", events: "ok  a 0.1s", fault: "unit.json: event 0 bytes in"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "unit.json")
			require.NoError(t, os.WriteFile(file, []byte(tt.events), 0o600))
			var out strings.Builder
			err := run(&out, "", []string{file}, time.Now())
			if tt.fault == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tt.fault)
			}
			require.Contains(t, out.String(), tt.total)
		})
	}
}

func TestRunFailsWithoutPhases(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, run(&strings.Builder{}, "", nil, time.Now()), "no phase ran")
}

func TestRunPrintsTheTimeSinceTheStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	events, since := filepath.Join(dir, "unit.json"), filepath.Join(dir, "started")
	require.NoError(t, os.WriteFile(events, []byte(passing), 0o600))
	require.NoError(t, os.WriteFile(since, []byte("1000\n"), 0o600))
	var out strings.Builder
	require.NoError(t, run(&out, since, []string{events}, time.Unix(1090, 0)))
	require.Contains(t, out.String(), "elapsed 1m30s, set-up not included\n")
}
