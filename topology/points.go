package topology

// points say, for one step, where its result is fixed, where the offset of the
// input is acknowledged, and who owns an effect outside Kafka.
type points struct {
	fixed, acknowledged, effect string
}

// pointsOf returns the points of a step, and whether they can be told.
func pointsOf(n *node) (points, bool) {
	inTask := points{"transaction of the task", "same transaction", "none"}
	switch n.kind {
	case kindSource, kindRepartitionSource,
		kindMap, kindMapValues, kindFlatMap, kindFlatMapValues, kindMapMessage, kindFlatMapMessage,
		kindSelectKey, kindFilter, kindBranch, kindCase, kindDefault, kindMerge,
		kindSink, kindDynamicSink, kindRepartition, kindOutcomes:
		return inTask, true
	case kindPeek:
		inTask.effect = "declared harmless: logs and metrics, may repeat"
		return inTask, true
	case kindEmit:
		inTask.effect = n.effect.promise
		return inTask, true
	}
	return points{}, false
}
