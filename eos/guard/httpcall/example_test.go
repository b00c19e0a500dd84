package httpcall_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/weirstream/weir/eos/guard"
	"github.com/weirstream/weir/eos/guard/httpcall"
)

type order struct {
	ID    string `json:"id"`
	Cents int64  `json:"cents"`
}

type orderJSON struct{}

func (orderJSON) Append(dst []byte, o order) ([]byte, error) {
	b, err := json.Marshal(o)
	return append(dst, b...), err
}

func (orderJSON) Decode(data []byte) (o order, err error) {
	err = json.Unmarshal(data, &o)
	return o, err
}

// A charge at a bank that keeps keys for a day and can be asked for a payment by
// the order's id.
func ExampleKeyed() {
	shop := guard.Source[order]{Name: "shop", IssuedBy: "shop-api", Lives: 30 * 24 * time.Hour}
	charges := guard.Identify(shop, orderJSON{},
		func(o order) guard.Op { return guard.OpOf(o.ID, "charge", guard.Once()) },
		func(o order) []any { return []any{o.Cents} })

	const url = "https://bank.example/v1/charges"
	charge := httpcall.Keyed("charge", charges, httpcall.StripeLike("bank"),
		func(o order) (httpcall.Request, error) {
			body, err := json.Marshal(o)
			return httpcall.Request{
				Method: http.MethodPost, URL: url, Body: body,
				Header: http.Header{"Content-Type": {"application/json"}},
			}, err
		},
		httpcall.Lookup[order]{
			Ask: func(_ guard.Call, o order) (httpcall.Request, error) {
				return httpcall.Request{URL: url + "/" + o.ID}, nil
			},
			Read: httpcall.Exists,
		},
		guard.Timeout(15*time.Second))

	class, claim, inDoubt := charge.Guarantee()
	fmt.Printf("%s: %s; in doubt %s\n", class, claim, inDoubt)
	// Output:
	// keyed remote: exactly once within the remote's window; in doubt repeated with the same key, later asked for
}
