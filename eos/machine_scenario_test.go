package eos

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var updateMachine = flag.Bool("update", false, "rewrite the expected lines of testdata/machine")

// The files of testdata/machine hold one event a line. Under it stand what the
// machine asks for ("->") and the state it is left in ("=="). A blank line or a
// comment is kept; "machine n" starts over with n slots.
func TestMachineScenarios(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/machine/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			got := replayScenario(t, string(raw))
			if *updateMachine {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
				return
			}
			require.Equal(t, string(raw), got, "run with -update and read the difference")
		})
	}
}

func replayScenario(t *testing.T, script string) string {
	t.Helper()
	var out strings.Builder
	var m *machine
	for line := range strings.Lines(script) {
		text := strings.TrimSpace(line)
		words := strings.Fields(text)
		switch {
		case strings.HasPrefix(text, "->"), strings.HasPrefix(text, "=="):
			continue
		case text == "", strings.HasPrefix(text, "#"):
			out.WriteString(text + "\n")
			continue
		case words[0] == "machine":
			m = newMachine(atoi(t, words[1]))
			fmt.Fprintf(&out, "%s\n    == %s\n", text, stateLine(m))
			continue
		}
		require.NotNil(t, m, "the file starts with: machine n")
		fmt.Fprintf(&out, "%s\n", text)
		actions, broken := stepOrPanic(m, parseEvent(t, words))
		if broken != "" {
			fmt.Fprintf(&out, "    -> panics: %s\n", broken)
			m = nil // the engine does not go on either
			continue
		}
		for _, a := range actions {
			fmt.Fprintf(&out, "    -> %s\n", actionLine(a))
		}
		fmt.Fprintf(&out, "    == %s\n", stateLine(m))
	}
	return out.String()
}

func stepOrPanic(m *machine, e event) (actions []action, broken string) {
	defer func() {
		if p := recover(); p != nil {
			broken = fmt.Sprint(p)
		}
	}()
	return m.step(e), ""
}

var eventWords = []string{
	eventBegin: "begin", eventAhead: "ahead", eventClose: "close", eventOpened: "opened", eventFlushed: "flushed",
	eventOffered: "offered", eventCommitted: "committed", eventAborted: "aborted",
	eventSettled: "settled", eventDoomed: "doomed", eventDoomAll: "doom-all", eventReplayed: "replayed",
}

var resultWords = []string{resultOK: "ok", resultRefused: "refused", resultUnknown: "unknown", resultFenced: "fenced"}

var actionWords = []string{
	actionOpen: "open", actionRelease: "release", actionFlush: "flush", actionOffer: "offer",
	actionCommit: "commit", actionAbort: "abort", actionSettle: "settle", actionCancel: "cancel",
	actionBook: "book", actionReplay: "replay",
}

var phaseWords = []string{
	phaseIdle: "idle", phaseStale: "stale", phaseOpening: "opening", phaseOpen: "open",
	phaseFlushing: "flushing", phaseFlushed: "flushed", phaseOffering: "offering",
	phaseOffered: "offered", phaseCommitting: "committing", phaseAborting: "aborting",
	phaseSettling: "settling", phaseEnded: "ended",
}

var doomWords = []string{doomNone: "", doomAbort: "to-abort", doomSettle: "to-settle"}

// parseEvent reads "begin", "close", "replayed", "doom-all", "doomed SLOT" and
// "<busy phase> SLOT RESULT". Its reason is the event's own name.
func parseEvent(t *testing.T, words []string) event {
	t.Helper()
	kind := slices.Index(eventWords, words[0])
	require.GreaterOrEqual(t, kind, 0, "unknown event %q", words[0])
	e := event{kind: eventKind(kind), reason: Reason(words[0])}
	if len(words) > 1 {
		e.slot = atoi(t, words[1])
	}
	if len(words) > 2 {
		r := slices.Index(resultWords, words[2])
		require.GreaterOrEqual(t, r, 0, "unknown result %q", words[2])
		e.result = result(r)
		e.reason = Reason(words[0] + "-" + words[2])
	}
	return e
}

func atoi(t *testing.T, word string) int {
	t.Helper()
	n, err := strconv.Atoi(word)
	require.NoError(t, err)
	return n
}

func actionLine(a action) string {
	if a.kind != actionReplay {
		return fmt.Sprintf("%s %d", actionWords[a.kind], a.slot)
	}
	if a.readBack {
		return "replay from the committed offsets"
	}
	return "replay from memory"
}

func stateLine(m *machine) string {
	var parts []string
	for i, s := range m.slots {
		part := fmt.Sprintf("%d %s", i, phaseWords[s.phase])
		for _, f := range []struct {
			set  bool
			name string
		}{{m.filling == i, "filling"}, {m.ahead == i, "ahead"}, {s.closing, "closed"}, {s.released, "released"}, {s.settled, "settled"}} {
			if f.set {
				part += " " + f.name
			}
		}
		if s.doom != doomNone {
			part += " " + doomWords[s.doom]
		}
		if s.reason != ReasonNone {
			part += fmt.Sprintf(" (%s)", s.reason)
		}
		parts = append(parts, part)
	}
	line := fmt.Sprintf("%s; line %v", strings.Join(parts, ", "), m.line)
	if m.replaying {
		return line + " replaying"
	}
	if m.recovering {
		return line + " recovering"
	}
	return line
}
