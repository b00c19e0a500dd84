//go:build mutant_unknown

package eos

const mutant = mutantUnknownCommitted
