//go:build mutant_stamp

package eos

const mutant = mutantNoStamp
