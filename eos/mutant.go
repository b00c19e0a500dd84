package eos

// Mutants are deliberately broken engines behind build tags. The proofs must
// turn red on each of them; a release never contains one.
const (
	mutantNone             = iota
	mutantOffsetsOutside   // tag mutant_offsets: offsets are committed outside the transaction
	mutantNoStamp          // tag mutant_stamp: the ownership stamp is not compared, nor is a loss acted on
	mutantUnknownCommitted // tag mutant_unknown: an unknown outcome is taken for committed
)
