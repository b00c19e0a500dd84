package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"
)

// workerEnv holds a worker's task as JSON; its presence makes a process one.
const workerEnv = "WEIR_DEMO_WORKER"

// reportFD is where a worker writes its reports: one word a line.
const reportFD = 3

// commitEvery is how often both fleets commit: the default of weir. (A Kafka
// consumer that commits by itself does so every 5 s.)
const commitEvery = 100 * time.Millisecond

// task is what a worker does.
type task struct {
	Fleet    string // weir or plain
	Brokers  []string
	Group    string // consumer group or application id
	Instance string // group.instance.id
	In, Out  string // topics
	Session  time.Duration
}

// The fleets.
const (
	fleetWeir  = "weir"
	fleetPlain = "plain"
)

// WorkerRequested says whether this process was started as a worker.
func WorkerRequested() bool { return os.Getenv(workerEnv) != "" }

// RunWorker works until ctx ends. The process exits at once when the demo that
// started it is gone, which closes its standard input.
func RunWorker(ctx context.Context) error {
	var t task
	if err := json.Unmarshal([]byte(os.Getenv(workerEnv)), &t); err != nil {
		return fmt.Errorf("demo: worker: %s: %w", workerEnv, err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	reports := os.NewFile(reportFD, "reports")
	report := func(word string) { _, _ = io.WriteString(reports, word+"\n") }
	switch t.Fleet {
	case fleetWeir:
		return t.runWeir(ctx, report)
	case fleetPlain:
		return t.runPlain(ctx, report)
	}
	return fmt.Errorf("demo: worker: %q is no fleet", t.Fleet)
}
