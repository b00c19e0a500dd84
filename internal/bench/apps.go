package bench

import (
	"context"
	"log/slog"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/processor"
	"github.com/weirstream/weir/topology"
)

// engine is a copy through package eos, with or without transactions.
func engine(plain bool) contender {
	return func(ctx context.Context, s Spec) error {
		opts, err := s.clientOptions()
		if err != nil {
			return err
		}
		cfg := eos.Config{
			ApplicationID: s.Group, InstanceID: s.Group, Brokers: s.Brokers, Topics: []string{s.In},
			CommitInterval: s.Commit, Slots: s.Slots, Lanes: s.Lanes, Client: opts,
			Logger: slog.New(slog.DiscardHandler),
		}
		if plain {
			cfg = eos.WithoutTransactions(cfg)
		}
		e, err := eos.New(cfg)
		if err != nil {
			return err
		}
		return e.Run(ctx, func(r *kgo.Record, out *eos.Out) error {
			out.Produce(&kgo.Record{Topic: s.Out, Key: r.Key, Value: r.Value})
			return nil
		})
	}
}

// app is a topology through package processor.
func app(build func(b *topology.Builder, s Spec)) contender {
	return func(ctx context.Context, s Spec) error {
		opts, err := s.clientOptions()
		if err != nil {
			return err
		}
		settings := []processor.Option{
			processor.WithBrokers(s.Brokers...), processor.WithInstanceID(s.Group), processor.WithCommitInterval(s.Commit),
			processor.WithClientOptions(opts...), processor.WithLogger(slog.New(slog.DiscardHandler)),
		}
		if s.Slots > 0 {
			settings = append(settings, processor.WithSlots(s.Slots))
		}
		if s.Lanes > 0 {
			settings = append(settings, processor.WithLanes(s.Lanes))
		}
		a, err := processor.New(s.Group, func(b *topology.Builder) { build(b, s) }, settings...)
		if err != nil {
			return err
		}
		return a.Run(ctx)
	}
}

// bytesTopology copies bytes.
func bytesTopology(b *topology.Builder, s Spec) {
	topology.Source(b, s.In, topology.Bytes, topology.Bytes).To(s.Out, topology.Bytes, topology.Bytes)
}

// fiveTopology is five operators over string keys and int64 values: the value
// is the first eight bytes of the input's.
func fiveTopology(b *topology.Builder, s Spec) {
	in := topology.Source(b, s.In, topology.String, topology.Int64)
	kept := in.Filter("kept", func(_ string, v int64) bool { return v != -1 })
	doubled := topology.MapValues(kept, "doubled", func(v int64) (int64, error) { return v * 2, nil })
	keyed := topology.SelectKey(doubled, "keyed", func(k string, _ int64) (string, error) { return k, nil })
	text := topology.MapValues(keyed, "text", func(v int64) (string, error) { return strconv.FormatInt(v, 10), nil })
	parsed := topology.MapValues(text, "parsed", func(v string) (int64, error) { return strconv.ParseInt(v, 10, 64) })
	parsed.To(s.Out, topology.String, topology.Int64)
}

// jsonTopology decodes, changes and encodes a JSON value.
func jsonTopology(b *topology.Builder, s Spec) {
	in := topology.Source(b, s.In, topology.Bytes, topology.JSON[reading]())
	counted := topology.MapValues(in, "counted", func(r reading) (reading, error) { r.Count++; return r, nil })
	counted.To(s.Out, topology.Bytes, topology.JSON[reading]())
}
