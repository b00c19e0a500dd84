//go:build !mutant_offsets && !mutant_stamp && !mutant_unknown

package eos

const mutant = mutantNone
