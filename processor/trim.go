package processor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/weirstream/weir/eos"
)

// trimmed are internal topics and who reads them.
type trimmed struct {
	engine *eos.Engine
	group  string
	topics []string
}

// trimmed says which topics each engine of the application reads.
func (a *App) trimmed() []trimmed {
	own := trimmed{engine: a.engine, group: a.cfg.engine.ApplicationID}
	delivered := trimmed{}
	if a.delivery != nil {
		delivered.engine, delivered.group = a.delivery.engine, a.delivery.group
	}
	for _, t := range a.internalTopics() {
		if t.kind != kindIntents {
			own.topics = append(own.topics, t.name)
		} else if a.delivery != nil {
			delivered.topics = append(delivered.topics, t.name)
		}
	}
	return []trimmed{own, delivered}
}

// trim deletes, from time to time, what is behind the committed offsets of the
// internal topics' partitions that this process owns. ctx ends it.
func (a *App) trim(ctx context.Context, adm *kadm.Client) {
	if len(a.internalTopics()) == 0 {
		return
	}
	for pause(ctx, a.cfg.trimInterval) {
		for _, t := range a.trimmed() {
			if err := t.once(ctx, adm); err != nil && ctx.Err() == nil {
				a.log.Warn("processed records of internal topics not deleted, trying again later", "error", err)
			}
		}
	}
}

// once asks for stable offsets: those of a transaction that is still ending are
// not there yet.
func (t trimmed) once(ctx context.Context, adm *kadm.Client) error {
	if len(t.topics) == 0 {
		return nil
	}
	owned := map[string]map[int32]bool{}
	for _, p := range t.engine.Status().Partitions {
		if owned[p.Topic] == nil {
			owned[p.Topic] = map[int32]bool{}
		}
		owned[p.Topic][p.Partition] = true
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	committed, err := adm.FetchOffsetsForTopics(kadm.RequireStable(ctx), t.group, t.topics...)
	if err = errors.Join(err, committed.Error()); err != nil {
		return fmt.Errorf("committed offsets: %w", err)
	}
	behind := make(kadm.Offsets)
	committed.Each(func(o kadm.OffsetResponse) {
		if o.At > 0 && owned[o.Topic][o.Partition] {
			behind.Add(o.Offset)
		}
	})
	if len(behind) == 0 {
		return nil
	}
	deleted, err := adm.DeleteRecords(ctx, behind)
	return errors.Join(err, deleted.Error())
}
