package demo

import (
	"context"
	"log/slog"
	"os"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/processor"
	"github.com/weirstream/weir/topology"
)

// reportUp is the word of a worker that has partitions.
const reportUp = "up"

// runWeir is the application with weir. It reports how each transaction ended.
func (t task) runWeir(ctx context.Context, report func(string)) error {
	build := func(b *topology.Builder) {
		orders := topology.Source(b, t.In, topology.String, topology.JSON[Order]())
		bills := topology.MapValues(orders, "charge", Charge)
		bills.To(t.Out, topology.String, topology.JSON[Bill]())
	}
	observe := eos.ObserverFunc(func(e eos.Event) {
		switch e.Kind { //nolint:exhaustive // the other steps are not counted
		case eos.Assigned:
			report(reportUp)
		case eos.Ended:
			report(e.Outcome.String())
		}
	})
	app, err := processor.New(t.Group, build,
		processor.WithBrokers(t.Brokers...),
		processor.WithInstanceID(t.Instance),
		processor.WithSessionTimeout(t.Session),
		processor.WithCommitInterval(commitEvery),
		processor.WithObserver(observe),
		processor.WithLogger(slog.New(slog.NewTextHandler(os.Stderr, nil))),
	)
	if err != nil {
		return err
	}
	return app.Run(ctx)
}
