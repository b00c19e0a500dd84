package main

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/weirstream/weir/internal/dlq"
)

// showLetter prints everything that a dead letter holds.
func showLetter(w io.Writer, e dlq.Entry) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-12s "+format+"\n", append([]any{name}, args...)...)
	}
	line("letter", "%s[%d]@%d", e.Record.Topic, e.Record.Partition, e.Record.Offset)
	if e.Bad != nil {
		line("error", "%v", e.Bad)
	} else {
		l := e.Letter
		line("origin", "%s", e.Origin())
		line("topic id", "%s", base64.StdEncoding.EncodeToString(l.TopicID[:]))
		line("application", "%s", l.ApplicationID)
		line("failed at", "%s", l.Time.UTC().Format(time.RFC3339Nano))
		line("phase", "%s", l.Phase)
		line("operator", "%s", l.Operator)
		line("error", "%s", strings.ReplaceAll(l.Error, "\n", "\n             "))
		line("key schema", "%d", l.KeySchema)
		line("timestamp", "%s", l.Timestamp.UTC().Format(time.RFC3339Nano))
		if l.TimestampMoved {
			line("", "the letter itself has %s: the topic refused the original", e.Record.Timestamp.UTC().Format(time.RFC3339Nano))
		}
	}
	line("replayed", "%s", moment(e.Replayed))
	line("key", "%s", brief(e.Record.Key))
	if e.Letter.ValueCutFrom > 0 {
		line("value", "%d bytes, cut from %d: it cannot be replayed", len(e.Record.Value), e.Letter.ValueCutFrom)
	} else if e.Record.Value == nil {
		line("value", "null")
	} else {
		line("value", "%d bytes", len(e.Record.Value))
	}
	for _, h := range e.Record.Headers {
		if !strings.HasPrefix(h.Key, "weir.origin.") && !strings.HasPrefix(h.Key, "weir.dlq.") {
			line("header", "%s = %s", h.Key, brief(h.Value))
		}
	}
	if len(e.Record.Value) == 0 {
		return
	}
	fmt.Fprintln(w)
	if utf8.Valid(e.Record.Value) {
		fmt.Fprintln(w, strings.TrimSuffix(string(e.Record.Value), "\n"))
		return
	}
	fmt.Fprint(w, hex.Dump(e.Record.Value))
}

// brief is a key or header value on one line: as it is if it is plain text, else
// quoted; null if there is none.
func brief(b []byte) string {
	if b == nil {
		return "null"
	}
	if q := strconv.Quote(string(b)); len(b) == 0 || q != `"`+string(b)+`"` || strings.ContainsAny(string(b), " ") || string(b) == "null" {
		return q
	}
	return string(b)
}
