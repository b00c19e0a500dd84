package httpcall

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/eos/guard"
	"github.com/weirstream/weir/eos/guard/guardtest/remotesim"
)

type order struct {
	ID    string `json:"id"`
	Cents int64  `json:"cents"`
}

func anOrder() order { return order{ID: "o-1", Cents: 100} }

type orderCodec struct{}

func (orderCodec) Append(dst []byte, o order) ([]byte, error) {
	b, err := json.Marshal(o)
	return append(dst, b...), err
}

func (orderCodec) Decode(data []byte) (o order, err error) {
	err = json.Unmarshal(data, &o)
	return o, err
}

// charges are identified by the order alone, so that two amounts share a key.
func charges() guard.Event[order] {
	shop := guard.Source[order]{Name: "shop", IssuedBy: "shop-api", Lives: time.Hour}
	return guard.Identify(shop, orderCodec{},
		func(o order) guard.Op { return guard.OpOf(o.ID, "charge", guard.Once()) },
		func(o order) []any { return []any{o.Cents} })
}

func startRemote(t *testing.T) *remotesim.Remote {
	t.Helper()
	r, err := remotesim.Start(t.Context())
	require.NoError(t, err)
	t.Cleanup(r.Close)
	return r
}

// post builds a POST of the order.
func post(url string) func(order) (Request, error) { return with(http.MethodPost, url, nil) }

func with(method, url string, header http.Header) func(order) (Request, error) {
	return func(o order) (Request, error) {
		body, err := orderCodec{}.Append(nil, o)
		return Request{Method: method, URL: url, Header: header, Body: body}, err
	}
}

// byID looks the order up by its id.
func byID(url string) Lookup[order] {
	return Lookup[order]{
		Ask:  func(_ guard.Call, o order) (Request, error) { return Request{URL: url + "?id=" + o.ID}, nil },
		Read: Exists,
	}
}

func keyedOn(r *remotesim.Remote, api API) *guard.Effect[order] {
	return Keyed("charge", charges(), api, post(r.URL()+"/charges"), byID(r.URL()+"/charges"))
}

func bank() API { return StripeLike("bank") }

func callOf(t *testing.T, e guard.Declared, o order) (call guard.Call, payload []byte) {
	t.Helper()
	id, err := charges().Of(o, guard.Origin{})
	require.NoError(t, err)
	sum, err := id.Key.Sum(e.EffectName())
	require.NoError(t, err)
	payload, err = orderCodec{}.Append(nil, o)
	require.NoError(t, err)
	return guard.Call{Key: id.Key, Sum: sum, Attempt: 1}, payload
}

// attempt makes one attempt, as a delivery would.
func attempt(ctx context.Context, t *testing.T, e guard.Declared, o order) guard.Reply {
	t.Helper()
	call, payload := callOf(t, e, o)
	return e.Perform(ctx, call, payload)
}

func ask(ctx context.Context, t *testing.T, e guard.Declared, o order) guard.Answer {
	t.Helper()
	call, payload := callOf(t, e, o)
	return e.Find(ctx, call, payload)
}

// history is what a row went through, on a clock that jumps to what is waited
// for.
type history struct {
	row           guard.Row
	replies       []guard.Reply
	answers       []guard.Answer
	waited        time.Duration
	notSent, sent int
}

// deliver moves one row of e until it is over or parked, without a ledger. before
// is called in front of each attempt and look-up, with their number from 1.
func deliver(t *testing.T, e guard.Declared, o order, before func(n int, w guard.Work)) history {
	t.Helper()
	policy := e.Delivery().Policy
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now := start
	h := history{row: guard.Row{State: guard.Intended}}
	for n := 1; n < 100; {
		row, work := h.row.Claim(policy, now, e.Delivery().Lease)
		if h.row = row; row.State.Over() || row.State == guard.Parked {
			h.waited = now.Sub(start)
			return h
		}
		if work == guard.Nothing {
			require.True(t, row.NotBefore.After(now), "nothing is due, ever")
			now = row.NotBefore
			continue
		}
		if before != nil {
			before(n, work)
		}
		n++
		if work == guard.Ask {
			answer := ask(t.Context(), t, e, o)
			h.answers, h.row = append(h.answers, answer), row.Answer(policy, answer.Found, now, now)
			continue
		}
		reply := attempt(t.Context(), t, e, o)
		h.replies, h.row = append(h.replies, reply), row.Finish(policy, reply.Verdict, now, reply.Wait)
		if reply.Verdict == guard.Unsent {
			h.notSent++
		} else {
			h.sent++
		}
	}
	require.FailNow(t, "no end after 100 steps")
	return h
}
