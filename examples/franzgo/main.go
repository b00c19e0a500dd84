// Franzgo is the engine alone, for a program that has a franz-go loop of its own:
// no topology and no serdes, a function from a *kgo.Record to *kgo.Records. It
// writes the lines of topic lines in capitals to topic shouts, exactly once.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/eos"
)

func main() {
	brokers := flag.String("brokers", "127.0.0.1:9092", "`host:port,...` of the first brokers to try")
	stateDir := flag.String("state-dir", "", "`folder` of the locks of instance ids")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	engine, err := eos.New(eos.Config{
		ApplicationID: "shout",
		Brokers:       strings.Split(*brokers, ","),
		Topics:        []string{"lines"},
		StateDir:      *stateDir,
		// Client takes the options of your client: TLS, SASL, sizes. Those that
		// decide exactly-once (group, isolation, transactional id, autocommit,
		// balancer) are the engine's.
		Client: []kgo.Opt{kgo.ClientID("franzgo-example")},
	})
	if err == nil {
		err = engine.Run(ctx, shout) // polls, produces and commits; no loop is left to write
	}
	switch {
	case errors.Is(err, eos.ErrFenced):
		fmt.Fprintln(os.Stderr, err) // another process has this identity: do not restart in a loop
		os.Exit(3)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// shout is what the loop did with each record. It may run more than once for a
// record: what it gives to out, and the offset, commit once, together. An error
// ends Run; eos.RetryAfter has the record again later.
func shout(r *kgo.Record, out *eos.Out) error {
	out.Produce(&kgo.Record{Topic: "shouts", Key: r.Key, Value: bytes.ToUpper(r.Value)})
	return nil
}
