package topology

import (
	"reflect"
	"slices"
	"strings"
)

// Effect is an effect on payloads P that may leave Kafka, such as a charge, a
// mail or a booking in a database; the effects of package eos/guard are some. A
// topology decides that it is to happen ([Stream.Emit]) and may read how it
// ended ([Outcomes]). Others perform it.
//
// An Effect is used by many goroutines at once. Two of one name must be equal:
// pass one pointer around, or a value that can be compared with ==.
type Effect[P any] interface {
	// EffectName is part of the names of its topics: letters, digits, '.', '_'
	// and '-'. It must always be the same.
	EffectName() string
	// Guarantee is the class of the effect, what it promises, and what happens
	// when its outcome is unknown: a few words each, for descriptions.
	Guarantee() (class, claim, onUnknown string)
	// AppendIntent appends the intent to perform the effect for p to dst, and
	// returns the longer slice with what intents are partitioned by. The origin
	// is that of the record; ordinal counts the intents of this effect that the
	// record has emitted before, from 0. dst is empty and not nil, and must not
	// be kept.
	AppendIntent(dst []byte, p P, topic string, topicID [16]byte, partition int32, offset int64, ordinal int32) (by string, intent []byte, err error)
	// DecodeOutcome reads what was published when the effect ended; see
	// [Outcome]. It must not change data.
	DecodeOutcome(data []byte) (p P, key, state, why string, result []byte, err error)
}

// declared is one effect of a topology. Immutable after Build.
type declared struct {
	index   int    // among the effects of the topology, in the order of declaration
	name    string // "": of no use, and a fault is noted
	value   any    // the Effect[P]
	promise string // for descriptions
}

// declare notes which effect n is about, and what is wrong with it.
func declare[P any](b *Builder, n *node, effect Effect[P]) {
	n.effect = &declared{}
	if v := reflect.ValueOf(effect); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		n.fault("its effect is nil")
		return
	}
	name := effect.EffectName()
	if reason := badName(name); reason != "" {
		n.fault("the name of its effect " + reason)
		return
	}
	if b == nil || b.built {
		return
	}
	if i := slices.IndexFunc(b.effects, func(d *declared) bool { return d.name == name }); i >= 0 {
		n.effect = b.effects[i]
		n.need(equal(n.effect.value, effect), "two effects are called "+quote(name)+": give every step the same one")
		return
	}
	class, claim, onUnknown := effect.Guarantee()
	class, claim, onUnknown = oneLine(class), oneLine(claim), oneLine(onUnknown)
	n.need(class != "" && claim != "" && onUnknown != "",
		"its effect promises nothing: Guarantee has to give a class, a claim and what happens in doubt")
	*n.effect = declared{
		index: len(b.effects), name: name, value: effect,
		promise: name + ": " + class + ", " + claim + "; in doubt: " + onUnknown,
	}
	b.effects = append(b.effects, n.effect)
}

// oneLine makes text fit for a cell of a table.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// EffectTopics are the internal topics of one effect, and who uses them.
type EffectTopics struct {
	Effect string // its name
	// Intents is <application.id>-<effect>-intents. It is there for every effect:
	// how an effect ended travels through it, too.
	Intents string
	// Outcomes is <application.id>-<effect>-outcomes, or "" if it is not read.
	Outcomes string
	From     []int // sub-topologies that emit it, without repeats
	Emitted  bool  // by an Emit of this topology
	Read     bool  // by Outcomes of this topology
}

// Effects returns the effects in the order in which they were first declared.
func (p *Plan) Effects() []EffectTopics {
	var all []EffectTopics
	for _, d := range p.top.effects {
		all = append(all, EffectTopics{Effect: d.name, Intents: intentsTopic(p.id, d.name)})
	}
	for _, n := range p.top.nodes {
		switch n.kind {
		case kindEmit:
			e := &all[n.effect.index]
			e.Emitted = true
			if from := p.top.subOf(n); !slices.Contains(e.From, from) {
				e.From = append(e.From, from)
			}
		case kindOutcomes:
			e := &all[n.effect.index]
			e.Read, e.Outcomes = true, p.names[n.index]
		default: // has no effect
		}
	}
	return all
}

func intentsTopic(applicationID, effect string) string {
	return applicationID + "-" + effect + "-intents"
}

func outcomesTopic(applicationID, effect string) string {
	return applicationID + "-" + effect + "-outcomes"
}
