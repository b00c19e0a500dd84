package bench

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// cluster is the measuring process's own connection, never through a proxy.
type cluster struct {
	brokers []string
	client  *kgo.Client
	adm     *kadm.Client
}

func dial(brokers []string) (*cluster, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	if err != nil {
		return nil, err
	}
	return &cluster{brokers: brokers, client: client, adm: kadm.NewClient(client)}, nil
}

func (c *cluster) close() { c.client.Close() }

// makeTopic creates a topic without retention.
func (c *cluster) makeTopic(ctx context.Context, name string, partitions int32) error {
	forever := "-1"
	r, err := c.adm.CreateTopic(ctx, partitions, 1, map[string]*string{"retention.ms": &forever}, name)
	if err = errors.Join(err, r.Err); err != nil {
		return fmt.Errorf("topic %s: %w", name, err)
	}
	for { // every broker must have heard of it before a contender asks
		at, err := c.adm.ListEndOffsets(ctx, name)
		if err == nil && at.Error() == nil && len(at[name]) == int(partitions) {
			return nil
		}
		if sleep(ctx, 50*time.Millisecond) != nil {
			return fmt.Errorf("topic %s is not there yet: %w", name, errors.Join(err, at.Error()))
		}
	}
}

func (c *cluster) dropTopics(ctx context.Context, names ...string) error {
	_, err := c.adm.DeleteTopics(ctx, names...)
	return err
}

// committed is the sum of the group's committed offsets of a topic.
func (c *cluster) committed(ctx context.Context, group, topic string) (int64, error) {
	got, err := c.adm.FetchOffsets(ctx, group)
	if err != nil {
		return 0, err
	}
	var n int64
	got.Each(func(o kadm.OffsetResponse) {
		if o.Topic == topic {
			n += max(0, o.At)
		}
	})
	return n, nil
}

// input is a kind of input record.
type input struct {
	name  string
	value func(i int) ([]byte, error)
}

func inputs() []input {
	return []input{
		{"100 bytes", func(i int) ([]byte, error) {
			v := make([]byte, 100)
			binary.BigEndian.PutUint64(v, uint64(i))
			return v, nil
		}},
		{"int64", func(i int) ([]byte, error) { return binary.BigEndian.AppendUint64(nil, uint64(i)), nil }},
		{"json", func(i int) ([]byte, error) {
			at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Millisecond)
			return json.Marshal(reading{Sensor: fmt.Sprintf("sensor-%06d", i%1_000_000), At: at, Value: float64(i%1000) / 8, Count: int64(i)})
		}},
	}
}

// fill writes n records of the kind, spread over the partitions by key.
func (c *cluster) fill(ctx context.Context, topic string, in input, n int) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(c.brokers...), kgo.ProducerBatchCompression(kgo.NoCompression()))
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	acked := func(_ *kgo.Record, err error) {
		if err != nil {
			stop(err)
		}
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		v, err := in.value(i)
		if err != nil {
			return err
		}
		client.Produce(ctx, &kgo.Record{Topic: topic, Key: binary.BigEndian.AppendUint64(nil, uint64(i)*0x9e3779b97f4a7c15), Value: v}, acked)
	}
	err = client.Flush(ctx)
	return errors.Join(err, context.Cause(ctx))
}
