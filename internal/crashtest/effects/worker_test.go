package effects_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/eos/guard"
	"github.com/weirstream/weir/eos/guard/postgres"
	"github.com/weirstream/weir/internal/crashtest"
	"github.com/weirstream/weir/internal/faultproxy"
	"github.com/weirstream/weir/processor"
	"github.com/weirstream/weir/topology"
)

// workerConfig is what a worker process is told.
type workerConfig struct {
	App      string
	Instance string // group.instance.id, and client.id
	StateDir string
	Proxy    string // faultproxy.Env
	Brokers  []string
	In, Out  string
	Bank     string // URL
	Database string // URL
	Class    class
	// Naive has the transform call the bank by itself, without a key.
	Naive bool
	// Forgetful has the attempt not durable before the call.
	Forgetful bool
}

const session = 3 * time.Second

// runShop is the worker: it charges each order and writes how that ended. It is
// ready once an effect is booked, or, if naive, once an order is charged.
func runShop(ctx context.Context, self *crashtest.Self) error {
	var c workerConfig
	if err := self.Decode(&c); err != nil {
		return err
	}
	proxy, err := faultproxy.ParseEnv(c.Proxy)
	if err != nil {
		return err
	}
	options := []processor.Option{
		processor.WithBrokers(c.Brokers...), processor.WithInstanceID(c.Instance), processor.WithStateDir(c.StateDir),
		processor.WithSessionTimeout(session), processor.WithLogger(slog.New(slog.NewTextHandler(os.Stderr, nil))),
		processor.WithClientOptions(kgo.ClientID(c.Instance), kgo.Dialer(faultproxy.Dialer(proxy))),
	}
	build := c.naive(self)
	if !c.Naive {
		db, err := postgres.Open(ctx, c.Database)
		if err != nil {
			return err
		}
		defer db.Close()
		ledger, err := c.ledger(ctx, self, db)
		if err != nil {
			return err
		}
		effect := charge(c.Class, c.Bank, c.Instance)
		gate, err := guard.New(ledger, effect)
		if err != nil {
			return err
		}
		build = c.guarded(effect)
		options = append(options, processor.WithGate(gate))
	}
	app, err := processor.New(c.App, build, options...)
	if err != nil {
		return err
	}
	return app.Run(ctx)
}

func (c workerConfig) ledger(ctx context.Context, self *crashtest.Self, db *postgres.DB) (guard.Ledger, error) {
	if !c.Forgetful {
		return stations{db.Ledger(), self}, nil
	}
	conn, err := pgx.Connect(ctx, c.Database) // ends with the process
	return stations{forgetful{db.Ledger(), conn}, self}, err
}

// orders reads the load: a value is the id of an order, perhaps padded.
func (c workerConfig) orders(b *topology.Builder) topology.Stream[string, order] {
	lines := topology.Source(b, c.In, topology.String, topology.String)
	return topology.MapValues(lines, "order", func(id string) (order, error) { return order{ID: id, Cents: 100}, nil })
}

func (c workerConfig) guarded(effect *guard.Effect[order]) func(*topology.Builder) {
	return func(b *topology.Builder) {
		c.orders(b).Emit("charge", effect)
		ended := topology.Outcomes(b, "charged", effect)
		topology.MapValues(ended, "line", func(o topology.Outcome[order]) (string, error) {
			return line(o.Payload.ID, o.State), nil
		}).To(c.Out, topology.String, topology.String)
	}
}

// line is what an outcome comes to in the output.
func line(id, state string) string { return id + " " + state }

// naive charges in the transform.
func (c workerConfig) naive(self *crashtest.Self) func(*topology.Builder) {
	return func(b *topology.Builder) {
		lines := topology.MapValues(c.orders(b), "charge", func(o order) (string, error) {
			body := strings.NewReader(fmt.Sprintf(`{"id":%q,"cents":%d}`, o.ID, o.Cents))
			req, err := http.NewRequest(http.MethodPost, c.Bank+"/charges", body) //nolint:noctx // a transform has none
			if err != nil {
				return "", err
			}
			req.Header.Set(by, c.Instance)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				return "", err
			}
			defer func() { _ = resp.Body.Close() }()
			_, err = io.Copy(io.Discard, resp.Body)
			self.Ready()
			return line(o.ID, "done"), err
		})
		lines.To(c.Out, topology.String, topology.String)
	}
}
