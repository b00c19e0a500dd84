package bench

import (
	"context"
	"time"

	"github.com/weirstream/weir/internal/faultproxy"
)

// delay puts a round trip between a contender and the brokers: half of it each
// way.
func delay(ctx context.Context, brokers []string, roundTrip time.Duration) (env string, stop func(), err error) {
	if roundTrip == 0 {
		return "", func() {}, nil
	}
	p, err := faultproxy.New(ctx, brokers)
	if err != nil {
		return "", nil, err
	}
	p.SetLink("", faultproxy.Link{Latency: roundTrip / 2})
	return p.Env(), p.Close, nil
}
