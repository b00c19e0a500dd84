package effects_test

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/weirstream/weir/eos/guard"
	"github.com/weirstream/weir/eos/guard/httpcall"
	"github.com/weirstream/weir/topology"
)

// class is a class of effect, by what its receiver can do.
type class string

const (
	keyed      class = "keyed remote"   // it honours keys
	reconciled class = "reconcile only" // it knows no keys and can be asked
	atMostOnce class = "at most once"   // it knows no keys and cannot be asked
)

// order is the payload.
type order struct {
	ID    string `json:"id"`
	Cents int64  `json:"cents"`
}

const (
	timeout = time.Second
	lease   = 2500 * time.Millisecond
	// settle is how long an effect must stay absent to count as not performed. The
	// remote never takes longer to act on a request that it has.
	settle = 2 * time.Second
)

// by is the header that names the worker to the bank.
const by = "X-Worker"

// charge is the effect, in the class, on the remote at url.
func charge(c class, url, worker string) *guard.Effect[order] {
	shop := guard.Source[order]{Name: "shop", IssuedBy: "the load", Lives: time.Hour}
	event := guard.Identify(shop, topology.JSON[order](),
		func(o order) guard.Op { return guard.OpOf(o.ID, "charge", guard.Once()) },
		func(o order) []any { return []any{o.Cents} })
	request := func(o order) (httpcall.Request, error) {
		body, err := json.Marshal(o)
		return httpcall.Request{Method: http.MethodPost, URL: url + "/charges", Header: http.Header{by: {worker}}, Body: body}, err
	}
	find := httpcall.Lookup[order]{
		Ask: func(_ guard.Call, o order) (httpcall.Request, error) {
			return httpcall.Request{URL: url + "/charges/" + o.ID}, nil
		},
		Read: httpcall.Exists,
	}
	options := []guard.Option{
		guard.Timeout(timeout), guard.Lease(lease), guard.Attempts(20),
		guard.Backoff(100*time.Millisecond, 500*time.Millisecond),
	}
	switch c {
	case keyed:
		api := httpcall.StripeLike("bank")
		api.Settle = settle
		return httpcall.Keyed("charge", event, api, request, find, options...)
	case reconciled:
		return httpcall.Reconciled("charge", event, httpcall.API{Remote: "bank", Settle: settle}, request, find, options...)
	case atMostOnce:
		return httpcall.AtMostOnce("charge", event, httpcall.API{Remote: "bank"}, request, options...)
	}
	panic("effects: no such class: " + string(c))
}
