package demo

import (
	"fmt"
	"io"
	"time"
)

// Limits of the options.
const (
	minSeconds = 8
	minRate    = 100
	maxRate    = 50_000
	minKills   = 5
)

// Options shape a run. New callers start from Defaults.
type Options struct {
	// Brokers are the first addresses to try, as host:port. None: an embedded
	// imitation of Kafka is started in this process.
	Brokers []string
	// Keep leaves the topics, and the embedded cluster until the context of
	// Run ends.
	Keep bool
	// Seed decides the load and when which worker is killed.
	Seed uint64
	// Seconds is for how long records flow, at least 8. Starting before it and
	// draining after it come on top.
	Seconds int
	// Rate is in input records per second, 100 to 50000.
	Rate int
	// Workers is the number of processes of each fleet, at least 2.
	Workers int
	// Command is the program and its first arguments that run a worker: a
	// program that calls RunWorker when WorkerRequested.
	Command []string
	// Out receives everything a user sees.
	Out io.Writer
}

// Defaults are the options of a demo that ends within a minute. Command and Out
// are left to the caller, and so is Seed.
func Defaults() Options { return Options{Seconds: 16, Rate: 2000, Workers: 3} }

// Check names the first option that is out of range.
func (o Options) Check() error {
	switch {
	case o.Seconds < minSeconds:
		return fmt.Errorf("seconds %d: must be at least %d, so that %d kills fit", o.Seconds, minSeconds, minKills)
	case o.Rate < minRate || o.Rate > maxRate:
		return fmt.Errorf("rate %d: must be %d to %d records per second", o.Rate, minRate, maxRate)
	case o.Workers < 2:
		return fmt.Errorf("workers %d: must be at least 2, so that one can take over", o.Workers)
	}
	return nil
}

// flow is for how long records flow.
func (o Options) flow() time.Duration { return time.Duration(o.Seconds) * time.Second }
