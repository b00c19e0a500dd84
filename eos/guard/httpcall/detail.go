package httpcall

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode"
)

// line is what operators read: method, host and path, and text. The query and
// what is in front of the host may hold secrets, and are left out.
func line(req *http.Request, text string) string {
	return oneLine(req.Method + " " + req.URL.Host + req.URL.EscapedPath() + ": " + text)
}

// cause is an error for operators.
func cause(err error) string {
	var asked *url.Error // its text has the whole URL
	if errors.As(err, &asked) {
		err = asked.Err
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "the attempt ran out of time"
	case errors.Is(err, context.Canceled):
		return "the attempt was cancelled"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed"
	}
	return err.Error()
}

// maxLine bounds a detail.
const maxLine = 300

func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	if len(s) > maxLine {
		s = strings.ToValidUTF8(s[:maxLine], "") + "…"
	}
	return s
}
