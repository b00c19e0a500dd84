package eos

// invariant panics when ok is false: a state that cannot be reached was, and
// going on could commit the wrong thing.
func invariant(ok bool, what string) {
	if !ok {
		panic("eos: broken invariant: " + what)
	}
}
