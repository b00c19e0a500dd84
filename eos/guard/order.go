package guard

// Order says what an effect does to those of the same entity that come behind
// it.
type Order int8

const (
	// Block is the default: nothing of an entity is sent before what comes in
	// front of it is over. What is uncertain or parked holds up its entity, and
	// no other.
	Block Order = iota
	// SkipSuperseded is Block for effects that state the whole of something, such
	// as an address: of those that wait, only the newest is sent.
	SkipSuperseded
	// Unordered: nobody waits.
	Unordered
)

var orderNames = [...]string{"block", "skip superseded", "unordered"}

// String is the name in lower case.
func (o Order) String() string { return orderNames[o] }

// Line says what may be claimed of the effects of one entity, oldest first, and
// which have been superseded, both by their place.
func (o Order) Line(states []State) (claimable, superseded []int) {
	newest := -1 // of those that were never sent
	for i, s := range states {
		if s == Intended {
			newest = i
		}
	}
	blocked := false
	for i, s := range states {
		switch {
		case s.Over():
		case o == SkipSuperseded && s == Intended && i < newest:
			superseded = append(superseded, i)
		case s == Parked:
			blocked = blocked || o != Unordered
		case !blocked:
			claimable = append(claimable, i)
			blocked = o != Unordered
		}
	}
	return claimable, superseded
}
