package httpcall

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/eos/guard"
)

// meaning is what the table in the comment of the package says of a status.
type meaning struct {
	verdict guard.Verdict
	pause   bool
}

// table writes the rules down once more, one status after the other.
func table(status int, keyed, retryAfter bool) meaning {
	special := map[int]meaning{
		307: {guard.Unsent, true}, 308: {guard.Unsent, true},
		401: {guard.Unsent, true}, 403: {guard.Unsent, true}, 407: {guard.Unsent, true},
		408: {guard.Unclear, false},
		421: {guard.Unsent, false},
		425: {guard.Unsent, true}, 429: {guard.Unsent, true},
		503: {guard.Unclear, retryAfter},
	}
	if keyed {
		special[409] = meaning{guard.Busy, false}
	}
	m, ok := special[status]
	switch {
	case ok:
		return m
	case status >= 200 && status <= 299:
		return meaning{guard.Performed, false}
	case status >= 400 && status <= 499:
		return meaning{guard.Refused, false}
	}
	return meaning{guard.Unclear, false}
}

func TestEveryStatusMeansWhatTheTableSays(t *testing.T) {
	t.Parallel()
	for status := 100; status <= 999; status++ {
		for _, api := range []API{{}, {KeyHeader: "Idempotency-Key"}, {KeyField: "idempotency_key"}} {
			for _, after := range []string{"", "7"} {
				o := outcome{left: true, status: status, header: http.Header{}, body: []byte(`{"n":1}`)}
				if after != "" {
					o.header.Set("Retry-After", after)
				}
				reply := api.judge(o, time.Now())
				keyed := api.KeyHeader+api.KeyField != ""
				want := table(status, keyed, after != "")
				require.Equal(t, want, meaning{reply.Verdict, reply.Pause}, "%d, keyed %v, Retry-After %q", status, keyed, after)
				require.Equal(t, strconv.Itoa(status), reply.Detail)
				over := reply.Verdict == guard.Performed || reply.Verdict == guard.Refused
				require.Equal(t, over, reply.Result != nil, status)
				require.Equal(t, !over && after != "", reply.Wait == 7*time.Second, status)
			}
		}
	}
}

// TestWithoutAnAnswer: a single byte on the wire makes the difference, whatever
// the error.
func TestWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for _, api := range []API{{}, bank(), Draft("bank", time.Hour)} {
		broken := errors.New("broken")
		means := func(int, http.Header, []byte) (guard.Reply, bool) {
			require.FailNow(t, "nothing was answered")
			return guard.Reply{}, false
		}
		require.Equal(t, guard.Reply{Verdict: guard.Unsent, Detail: "not sent: broken"},
			api.judge(outcome{err: broken}, time.Now(), means))
		require.Equal(t, guard.Reply{Verdict: guard.Unclear, Detail: "no answer: broken"},
			api.judge(outcome{err: broken, left: true}, time.Now(), means))
		for status := 100; status <= 999; status++ { // an answer that does not end is none, whatever its beginning
			require.Equal(t, guard.Reply{Verdict: guard.Unclear, Detail: strconv.Itoa(status) + ", cut off: broken"},
				api.judge(outcome{err: broken, left: true, status: status, body: []byte(`{"pa`)}, time.Now(), means))
		}
	}
}

func TestWhatTheContractsSayOtherwise(t *testing.T) {
	t.Parallel()
	const missing = `{"title":"Idempotency-Key is missing"}`
	const other = `{"error":{"type":"idempotency_error","message":"Keys for idempotent requests can only be used with the same parameters they were first used with."}}`
	declined := API{Means: func(status int, _ http.Header, body []byte) (guard.Reply, bool) {
		no := status == http.StatusOK && string(body) == `{"ok":false}`
		return guard.Reply{Verdict: guard.Refused, Result: []byte("no"), Detail: "declined"}, no
	}}
	for _, c := range []struct {
		name   string
		api    API
		status int
		body   string
		want   meaning
	}{
		{"422 of the draft is another payload", Draft("bank", time.Hour), 422, `{}`, meaning{guard.Mismatched, false}},
		{"422 of others is a refusal", bank(), 422, `{}`, meaning{guard.Refused, false}},
		{"400 of the draft that names the header", Draft("bank", time.Hour), 400, missing, meaning{guard.Unsent, true}},
		{"400 of the draft for another reason", Draft("bank", time.Hour), 400, `{"title":"no such currency"}`, meaning{guard.Refused, false}},
		{"400 that names the header where none travels", API{}, 400, missing, meaning{guard.Refused, false}},
		{"400 that names the header of the remote", API{KeyHeader: "PayPal-Request-Id"}, 400, `PAYPAL-REQUEST-ID is too long`, meaning{guard.Unsent, true}},
		{"Stripe's 400 for another payload", bank(), 400, other, meaning{guard.Mismatched, false}},
		{"Stripe's 400 for another reason", bank(), 400, `{"error":{"type":"invalid_request_error"}}`, meaning{guard.Refused, false}},
		{"200 that means no", declined, 200, `{"ok":false}`, meaning{guard.Refused, false}},
		{"200 that means yes", declined, 200, `{"ok":true}`, meaning{guard.Performed, false}},
	} {
		o := outcome{left: true, status: c.status, header: http.Header{}, body: []byte(c.body)}
		reply := c.api.judge(o, time.Now(), c.api.Means)
		require.Equal(t, c.want, meaning{reply.Verdict, reply.Pause}, c.name)
	}
	no := declined.judge(outcome{left: true, status: 200, body: []byte(`{"ok":false}`)}, time.Now(), declined.Means)
	require.Equal(t, guard.Reply{Verdict: guard.Refused, Result: []byte("no"), Detail: "declined"}, no)
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	date := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for _, c := range []struct {
		after, date string
		want        time.Duration
	}{
		{"", "", 0},
		{"0", "", 0},
		{"7", "", 7 * time.Second},
		{" 120 ", "", 2 * time.Minute},
		{"86401", "", 24 * time.Hour},
		{strconv.FormatUint(math.MaxUint64, 10), "", 24 * time.Hour},
		{strings.Repeat("9", 100), "", 24 * time.Hour},
		{"-7", "", 0},
		{"1.5", "", 0},
		{"soon", "", 0},
		{date(90 * time.Second), "", 90 * time.Second},
		{date(-time.Hour), "", 0},
		{date(1000 * time.Hour), "", 24 * time.Hour},
		{date(time.Hour), date(59 * time.Minute), time.Minute}, // its clock is 59 minutes ahead
		{date(time.Hour), "yesterday", time.Hour},
	} {
		h := http.Header{}
		h.Set("Retry-After", c.after)
		h.Set("Date", c.date)
		require.Equal(t, c.want, retryAfter(h, now), "Retry-After %q, Date %q", c.after, c.date)
	}
}
