//go:build mutant_offsets

package eos

const mutant = mutantOffsetsOutside
