package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/internal/faultproxy"
)

// Spec tells a contender's process what to run.
type Spec struct {
	Contender string
	Brokers   []string
	In, Out   string
	Group     string
	// Commit is the commit interval.
	Commit time.Duration
	// Linger is the producer linger of the hand-written loops; the engine
	// chooses its own.
	Linger time.Duration
	// Slots and Lanes are the engine's; 0 is its default.
	Slots, Lanes int
	// Proxy redirects broker addresses, as faultproxy prints it. Empty: none.
	Proxy string
}

// contender runs until ctx ends.
type contender func(ctx context.Context, s Spec) error

func contenders() map[string]contender {
	return map[string]contender{
		"loop":         transactLoop(copyValue),
		"engine":       engine(false),
		"engine plain": engine(true),
		"bytes":        app(bytesTopology),
		"five":         app(fiveTopology),
		"json":         app(jsonTopology),
		"json loop":    transactLoop(jsonValue),
	}
}

// Contenders are the names that RunChild knows, sorted.
func Contenders() []string {
	var names []string
	for name := range contenders() {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// RunChild reads a Spec as JSON and runs its contender until ctx ends.
func RunChild(ctx context.Context, in io.Reader) error {
	var s Spec
	if err := json.NewDecoder(in).Decode(&s); err != nil {
		return fmt.Errorf("bench: spec: %w", err)
	}
	run, ok := contenders()[s.Contender]
	if !ok {
		return fmt.Errorf("bench: no contender %q; there are %v", s.Contender, Contenders())
	}
	if err := run(ctx, s); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("bench: %s: %w", s.Contender, err)
	}
	return nil
}

// clientOptions are those of every contender: the same fetch limits, no
// compression, the same protocol versions.
func (s Spec) clientOptions() ([]kgo.Opt, error) {
	opts := []kgo.Opt{kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.FetchMaxBytes(fetchMaxBytes)}
	if s.Proxy == "" {
		return opts, nil
	}
	redirect, err := faultproxy.ParseEnv(s.Proxy)
	if err != nil {
		return nil, err
	}
	return append(opts, kgo.Dialer(faultproxy.Dialer(redirect))), nil
}

// fetchMaxBytes is franz-go's default, named so that it is printed.
const fetchMaxBytes = 50 << 20
