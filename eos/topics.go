package eos

import (
	"context"
	"fmt"
	"time"
)

// topicCheckInterval is how often the input topics are compared with those the
// member started on.
const topicCheckInterval = 5 * time.Second

// watchTopics ends the engine when an input topic is deleted or made anew:
// offsets of the old topic mean nothing in the new one.
func (m *member) watchTopics(ctx context.Context) {
	for pause(ctx, topicCheckInterval) {
		m.checkTopics(ctx)
	}
}

func (m *member) checkTopics(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, topicCheckInterval)
	defer cancel()
	topics, err := m.adm.ListTopics(ctx, m.engine.cfg.Topics...)
	if err != nil {
		return // no answer: nothing is known
	}
	for _, name := range m.engine.cfg.Topics {
		t := topics[name]
		if err := topicError(name, t); err != nil {
			if ctx.Err() == nil {
				e := asError(err)
				e.What = "the input topic was deleted, or can no longer be described, while the application ran"
				e.Do = "make it again under a new application id, or bring it back and reset the group's offsets"
				m.engine.fail(e)
			}
			return
		}
		if t.ID != m.topicIDs[name] {
			m.engine.fail(newError(ErrTopic,
				fmt.Sprintf("the input topic was deleted and made anew (topic id %s, was %s)", t.ID, m.topicIDs[name]),
				"the committed offsets belong to the old topic: reset them with kafka-consumer-groups --reset-offsets, then start again", nil).at(name, -1, -1))
			return
		}
	}
}
