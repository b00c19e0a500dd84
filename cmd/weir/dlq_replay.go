package main

import (
	"context"
	"fmt"
	"os"

	"github.com/peterbourgon/ff/v3/ffcli"

	"github.com/weirstream/weir/internal/dlq"
)

const dlqReplayHelp = `Sends dead letters to the topic they came from, with their key, value, headers and
timestamp. The headers that name the origin stay on the record, so that it keeps its
identity if it fails again. The partition is the one its key hashes to.

Each letter is sent once: the record that it was replayed goes to the compacted topic
TOPIC-replayed (made if missing) in the same Kafka transaction. A letter that is
recorded there is refused unless --force is given. Up to 100 letters share a
transaction; if the command is killed, what it had open is aborted, by the next replay
at once or by the broker within 30 s (and its scan interval), and running it again
sends the rest. A letter whose value was cut cannot be replayed.

A record older than the retention time of its topic may be deleted there before it is
read. Choose letters with the flags below, or --all. Exit code 1 if one of the chosen
letters was refused; --pending chooses what was not replayed yet.

  weir dlq replay --topic orders-dlq --phase process --dry-run
  weir dlq replay --topic orders-dlq --phase process --pending`

func dlqReplayCommand() *ffcli.Command {
	f := newDLQFlags("replay")
	s := selectionFlags(f.set)
	var o dlq.ReplayOptions
	all := f.set.Bool("all", false, "every letter")
	f.set.BoolVar(&o.Force, "force", false, "send letters that were replayed before, too")
	f.set.BoolVar(&o.DryRun, "dry-run", false, "say what would be sent, and send nothing")
	return &ffcli.Command{
		Name: "replay", ShortUsage: "weir dlq replay --topic TOPIC [flags]", FlagSet: f.set, Options: environment(),
		ShortHelp: "send dead letters to their origin again, each once",
		LongHelp:  dlqReplayHelp,
		Exec: func(ctx context.Context, args []string) error {
			book, _, err := f.open(args)
			if err != nil {
				return err
			}
			if chosen := *s != (dlq.Selection{Partition: -1}); chosen == *all {
				return usagef("choose letters by --partition, --from, --to, --origin, --phase or --pending, or all of them by --all alone")
			}
			return replay(ctx, book, *s, o)
		},
	}
}

func replay(ctx context.Context, book *dlq.Book, s dlq.Selection, o dlq.ReplayOptions) error {
	verb, refused, sent := "sent", 0, 0
	tell := func(batch []dlq.Result) {
		for _, r := range batch {
			if r.Refused != nil {
				refused++
				fmt.Fprintf(os.Stdout, "%s refused: %v\n", r.Position(), r.Refused)
				continue
			}
			sent++
			fmt.Fprintf(os.Stdout, "%s %s to %s, origin %s\n", r.Position(), verb, r.Letter.Topic, r.Origin())
		}
	}
	if o.DryRun {
		verb = "would be sent"
	} else {
		o.Sent = tell
	}
	results, err := book.Replay(ctx, s, o)
	if err != nil {
		return err
	}
	if o.DryRun {
		tell(results)
	}
	fmt.Fprintf(os.Stdout, "%d letters %s, %d refused\n", sent, verb, refused)
	if refused > 0 {
		return fmt.Errorf("%d of %d letters refused; the lines above say why", refused, len(results))
	}
	return nil
}
