package httpcall

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/weirstream/weir/eos/guard"
)

// rule says what an answer means, or nothing.
type rule func(status int, header http.Header, body []byte) (reply guard.Reply, ok bool)

// judge says what an attempt came to: the first rule that knows, or else the
// table of the package. It is given everything, and asks nobody.
func (a API) judge(o outcome, now time.Time, rules ...rule) guard.Reply {
	switch {
	case o.err != nil && !o.left:
		return guard.Reply{Verdict: guard.Unsent, Detail: "not sent: " + cause(o.err)}
	case o.err != nil && o.status != 0:
		return guard.Reply{Verdict: guard.Unclear, Detail: strconv.Itoa(o.status) + ", cut off: " + cause(o.err)}
	case o.err != nil:
		return guard.Reply{Verdict: guard.Unclear, Detail: "no answer: " + cause(o.err)}
	}
	reply := a.byRule(o, rules)
	if reply.Detail == "" {
		reply.Detail = a.detail(o)
	}
	switch reply.Verdict {
	case guard.Performed, guard.Refused:
		if reply.Result == nil && !o.long {
			reply.Result = o.body
		}
	case guard.Unclear, guard.Unsent, guard.Busy:
		if reply.Wait == 0 {
			reply.Wait = retryAfter(o.header, now)
		}
	case guard.Mismatched:
	}
	return reply
}

func (a API) byRule(o outcome, rules []rule) guard.Reply {
	for _, r := range rules {
		if r == nil {
			continue
		}
		if reply, ok := r(o.status, o.header, o.body); ok {
			return reply
		}
	}
	v, pause := a.byStatus(o)
	return guard.Reply{Verdict: v, Pause: pause}
}

// byStatus is the table in the comment of the package.
func (a API) byStatus(o outcome) (v guard.Verdict, pause bool) {
	switch o.status {
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect: // RFC 9110, 15.4.8: the same request is wanted elsewhere
		return guard.Unsent, true
	case http.StatusBadRequest:
		if a.namesKey(o.body) {
			return guard.Unsent, true
		}
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return guard.Unsent, true
	case http.StatusRequestTimeout: // a proxy's clock may have run out while the remote was at work
		return guard.Unclear, false
	case http.StatusConflict:
		if a.keyed() {
			return guard.Busy, false
		}
	case http.StatusMisdirectedRequest: // RFC 9110, 15.5.20: any request may be repeated, on another connection
		return guard.Unsent, false
	case http.StatusTooEarly, http.StatusTooManyRequests:
		return guard.Unsent, true
	case http.StatusServiceUnavailable:
		return guard.Unclear, o.header.Get("Retry-After") != ""
	}
	switch o.status / 100 {
	case 2:
		return guard.Performed, false
	case 4:
		return guard.Refused, false
	}
	return guard.Unclear, false
}

// namesKey says whether a body speaks of the header of the key. It would for one
// that is missing or malformed, which is so for every request; a field of the
// body may be spoken of for other reasons.
func (a API) namesKey(body []byte) bool {
	return a.KeyHeader != "" && bytes.Contains(bytes.ToLower(body), []byte(strings.ToLower(a.KeyHeader)))
}

func (a API) detail(o outcome) string {
	text := strconv.Itoa(o.status)
	if a.Replayed != "" && strings.EqualFold(o.header.Get(a.Replayed), "true") {
		text += ", replayed"
	}
	if o.long {
		text += ", longer than 64 KiB and not kept"
	}
	return text
}

// maxWait is the longest that is waited for a remote's word.
const maxWait = 24 * time.Hour

// retryAfter reads Retry-After: seconds, or a date, which counts from the remote's
// own if it gives one. 0: it does not say, or does not want anybody to wait.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if text == "" {
		return 0
	}
	if strings.Trim(text, "0123456789") == "" {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || seconds > int64(maxWait/time.Second) {
			return maxWait
		}
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return min(max(at.Sub(now), 0), maxWait)
}
