// Package dlq reads dead letter topics and sends dead letters to their origin
// again, for weir dlq.
//
// What was replayed is kept in a topic of its own, <dead letter topic>-replayed:
// compacted, one record for each replayed letter, written in the Kafka
// transaction that sends the letter. A group's offsets would be one number for a
// partition, while an operator replays letters here and there.
//
// All replays of one dead letter topic share one transactional.id. Taking it ends
// what a killed replay left open, and fences one that still runs, before the
// record of what was replayed is read: so no letter is sent twice.
package dlq

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/internal/committed"
	"github.com/weirstream/weir/processor/deadletter"
)

// Entry is one record of a dead letter topic.
type Entry struct {
	Record *kgo.Record
	Letter deadletter.Letter
	// Bad says why the record is no dead letter; Letter is then empty.
	Bad error
	// Replayed is when the letter was last sent again; zero: never.
	Replayed time.Time
}

// Position is partition/offset in the dead letter topic, as commands take it.
func (e Entry) Position() string { return fmt.Sprintf("%d/%d", e.Record.Partition, e.Record.Offset) }

// Origin is topic[partition]@offset of the record that failed.
func (e Entry) Origin() string {
	return fmt.Sprintf("%s[%d]@%d", e.Letter.Topic, e.Letter.Partition, e.Letter.Offset)
}

// Selection chooses letters. All that is set must hold.
type Selection struct {
	Partition int32  // of the dead letter topic; -1: any
	From, To  int64  // offsets there, [From, To); To 0: no bound
	Origin    string // topic of the record that failed; "": any
	Phase     string // decode, process or produce; "": any
	Pending   bool   // only what was not replayed yet
}

// Matches says whether e is chosen. What is no dead letter has neither origin
// nor phase.
func (s Selection) Matches(e Entry) bool {
	switch {
	case s.Partition >= 0 && e.Record.Partition != s.Partition:
		return false
	case e.Record.Offset < s.From, s.To > 0 && e.Record.Offset >= s.To:
		return false
	case s.Origin != "" && e.Letter.Topic != s.Origin:
		return false
	case s.Phase != "" && e.Letter.Phase != s.Phase:
		return false
	}
	return !s.Pending || e.Bad == nil && e.Replayed.IsZero()
}

// Book is a dead letter topic of a cluster.
type Book struct {
	cluster *committed.Cluster
	topic   string
}

// Open names a dead letter topic; nothing is asked yet.
func Open(cluster *committed.Cluster, topic string) *Book {
	return &Book{cluster: cluster, topic: topic}
}

// ReplayedTopic is where the replays of topic are kept.
func ReplayedTopic(topic string) string { return topic + "-replayed" }

// List returns the chosen letters that are committed now, in the order of their
// partitions and offsets.
func (b *Book) List(ctx context.Context, s Selection) ([]Entry, error) {
	ranges, err := b.cluster.Ranges(ctx, b.topic)
	if err != nil {
		return nil, err
	}
	for p, r := range ranges {
		if s.Partition >= 0 && p != s.Partition {
			delete(ranges, p)
			continue
		}
		r.From = max(r.From, s.From)
		if s.To > 0 {
			r.To = min(r.To, s.To)
		}
		ranges[p] = r
	}
	if s.Partition >= 0 && len(ranges) == 0 {
		return nil, fmt.Errorf("topic %s has no partition %d", b.topic, s.Partition)
	}
	replayed, err := b.replayed(ctx)
	if err != nil {
		return nil, err
	}
	var entries []Entry
	err = b.cluster.Read(ctx, b.topic, ranges, func(r *kgo.Record) error {
		e := Entry{Record: r}
		e.Letter, e.Bad = deadletter.Parse(r.Headers)
		if e.Bad != nil {
			e.Letter = deadletter.Letter{}
		}
		e.Replayed = replayed[position{r.Partition, r.Offset}]
		if s.Matches(e) {
			entries = append(entries, e)
		}
		return nil
	})
	sortEntries(entries)
	return entries, err
}

// Get returns the letter at partition and offset.
func (b *Book) Get(ctx context.Context, partition int32, offset int64) (Entry, error) {
	found, err := b.List(ctx, Selection{Partition: partition, From: offset, To: offset + 1})
	if err != nil {
		return Entry{}, err
	}
	if len(found) == 0 {
		return Entry{}, fmt.Errorf("%s[%d]@%d holds no committed record; weir dlq list shows those there are", b.topic, partition, offset)
	}
	return found[0], nil
}

// position is a partition and offset of the dead letter topic.
type position struct {
	partition int32
	offset    int64
}

// marker is the key of the record that says a letter was replayed. It holds the
// topic's id: a topic made anew begins at offset 0 again.
func marker(id kadm.TopicID, p position) string {
	return fmt.Sprintf("%s/%d/%d", base64.StdEncoding.EncodeToString(id[:]), p.partition, p.offset)
}

// replayed reads what was replayed, and when.
func (b *Book) replayed(ctx context.Context) (map[position]time.Time, error) {
	topics, err := b.cluster.Topics(ctx, b.topic)
	if err != nil {
		return nil, err
	}
	prefix := base64.StdEncoding.EncodeToString(idOf(topics[b.topic])) + "/"
	kept := ReplayedTopic(b.topic)
	missing := false
	err = b.cluster.Admin(ctx, func(ctx context.Context, adm *kadm.Client) error {
		found, err := adm.ListTopics(ctx, kept)
		if err != nil {
			return b.cluster.Explain("topic "+kept+" cannot be described", err)
		}
		missing = errors.Is(found[kept].Err, kerr.UnknownTopicOrPartition)
		return nil
	})
	if err != nil || missing {
		return nil, err
	}
	ranges, err := b.cluster.Ranges(ctx, kept)
	if err != nil {
		return nil, err
	}
	done := map[position]time.Time{}
	err = b.cluster.Read(ctx, kept, ranges, func(r *kgo.Record) error {
		key, ours := strings.CutPrefix(string(r.Key), prefix)
		var p position
		if _, err := fmt.Sscanf(key, "%d/%d", &p.partition, &p.offset); !ours || err != nil {
			return nil //nolint:nilerr // of another topic of this name
		}
		at, err := time.Parse(time.RFC3339Nano, string(r.Value))
		if err != nil {
			return fmt.Errorf("%s[%d]@%d: the time of a replay is malformed: %w", kept, r.Partition, r.Offset, err)
		}
		done[p] = at
		return nil
	})
	return done, err
}

func idOf(topic kadm.TopicDetail) []byte { return topic.ID[:] }
