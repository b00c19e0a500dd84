package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/twmb/franz-go/pkg/kgo"
)

// feedMain writes a file of flights to topic flights and returns the exit code.
// Run twice it writes them twice: it only stands in for a sender.
func feedMain(args []string) int {
	set := flag.NewFlagSet("flights feed", flag.ContinueOnError)
	brokers := set.String("brokers", "127.0.0.1:9092", "`host:port,...` of the first brokers to try")
	file := set.String("file", "", "`path` of a JSON array of flights, or of one flight a line; required")
	if err := set.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if *file == "" || set.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "flights feed: give --file, and nothing but flags; see --help")
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	n, err := feed(ctx, strings.Split(*brokers, ","), *file)
	fmt.Printf("wrote %d flights\n", n)
	if err != nil {
		fmt.Fprintln(os.Stderr, "flights feed:", err)
		return 1
	}
	return 0
}

// feed returns how many flights were acknowledged.
func feed(ctx context.Context, brokers []string, path string) (int, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }() // it was only read
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.DefaultProduceTopic("flights"))
	if err != nil {
		return 0, err
	}
	defer client.Close()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	written := 0 // changed by promises only, which run one at a time; read after Flush
	err = eachFlight(file, func(line []byte) error {
		client.Produce(ctx, &kgo.Record{Value: line}, func(_ *kgo.Record, err error) {
			if err != nil {
				fail(err)
				return
			}
			written++
		})
		return context.Cause(ctx)
	})
	if flushed := client.Flush(context.WithoutCancel(ctx)); err == nil {
		err = errors.Join(flushed, context.Cause(ctx))
	}
	return written, err
}

// eachFlight calls fn for the elements of a JSON array, or else for the lines,
// which need not be JSON: the application says what it makes of them.
func eachFlight(in io.Reader, fn func([]byte) error) error {
	text := bufio.NewReader(in)
	if first, err := text.Peek(1); err != nil || first[0] != '[' {
		lines := bufio.NewScanner(text)
		for lines.Scan() {
			if err := fn([]byte(lines.Text())); err != nil {
				return err
			}
		}
		return lines.Err()
	}
	array := json.NewDecoder(text)
	if _, err := array.Token(); err != nil {
		return err
	}
	for array.More() {
		var element json.RawMessage
		if err := array.Decode(&element); err != nil {
			return err
		}
		if err := fn(element); err != nil {
			return err
		}
	}
	_, err := array.Token()
	return err
}
