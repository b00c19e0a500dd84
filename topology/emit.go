package topology

// Emit asks for effect, once for each record of s: it writes the intent to
// perform it for the value to the internal topic
// <application.id>-<effect name>-intents, in the same Kafka transaction as
// everything else that the record causes. The effect is performed after that
// transaction commits, with the promise that [Topology.Describe] prints. The key
// of s plays no part: the effect says what intents are partitioned by.
//
// One effect may be emitted by several steps, under a name for each. An intent
// that cannot be made is an error of phase effect.
func (s Stream[K, V]) Emit(name string, effect Effect[V]) {
	n := s.add(kindEmit, name)
	declare(s.b, n, effect)
	s.each(func(x *run, _ K, v V) error {
		x.at, x.phase = n, PhaseEffect
		from, ordinal := &x.record.Origin, &x.ordinals[n.effect.index]
		by, intent, err := effect.AppendIntent(x.bytes.room(), v, from.Topic, from.TopicID, from.Partition, from.Offset, *ordinal)
		if err != nil {
			return x.fail(err)
		}
		*ordinal++
		intent = x.bytes.keep(intent)
		if x.tap != nil {
			x.tap.Payload(v)
		}
		key := x.bytes.keep(append(x.bytes.room(), by...))
		x.out = Output{Topic: x.names[n.index], Key: key, Value: intent, Timestamp: x.timestamp, Sink: n.name}
		x.send()
		return nil
	})
}
