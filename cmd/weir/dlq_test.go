package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/internal/kafkatest"
	"github.com/weirstream/weir/processor"
	"github.com/weirstream/weir/processor/deadletter"
	"github.com/weirstream/weir/topology"
)

// letters runs an application that copies in to out until it has processed
// everything; values that begin with one of bad fail.
func letters(t *testing.T, c *kafkatest.Cluster, id, in, out string, bad ...string) {
	t.Helper()
	app, err := processor.New(id, func(b *topology.Builder) {
		s := topology.Source(b, in, topology.String, topology.String)
		topology.MapValues(s, "check", func(v string) (string, error) {
			for _, p := range bad {
				if strings.HasPrefix(v, p) {
					return "", errors.New("refused: " + v)
				}
			}
			return v, nil
		}).To(out, topology.String, topology.String)
	}, processor.WithBrokers(c.Brokers()...), processor.WithStateDir(t.TempDir()),
		processor.WithErrorPolicy(topology.PhaseProcess, processor.DeadLetter()),
		processor.WithLogger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- app.Run(ctx) }()
	require.Eventually(t, func() bool {
		return c.CommittedOffsets(t, id)[in][0] == c.EndOffsets(t, in)[in][0]
	}, 30*time.Second, 50*time.Millisecond)
	cancel()
	require.NoError(t, <-done)
}

func values(t *testing.T, c *kafkatest.Cluster, topic string) []string {
	t.Helper()
	var got []string
	for _, r := range c.ReadCommitted(t, topic) {
		got = append(got, string(r.Value))
	}
	return got
}

var instants = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`)

// timeless replaces what differs from run to run.
func timeless(s string) string {
	return regexp.MustCompile(` +`).ReplaceAllString(instants.ReplaceAllString(s, "TIME"), " ")
}

func TestADeadLetterIsListedShownAndReplayedOnce(t *testing.T) {
	c := kafkatest.Start(t)
	id, in, out := kafkatest.Name("app"), c.Topic(t, "in", 1), c.Topic(t, "out", 1)
	dlq := id + "-dlq"
	c.CreateTopic(t, dlq, 1, nil)
	for _, v := range []string{"good", "bad one", "fine", "bad two"} {
		c.Produce(t, &kgo.Record{Topic: in, Key: []byte("k"), Value: []byte(v), Headers: []kgo.RecordHeader{{Key: "trace", Value: []byte("t 1")}}})
	}
	letters(t, c, id, in, out, "bad")
	at := []string{"--topic", dlq, "--brokers", strings.Join(c.Brokers(), ",")}
	weir := func(args ...string) string {
		return timeless(succeed(t, "", append(append([]string{"dlq"}, args...), at...)...))
	}

	found := c.ReadCommitted(t, dlq)
	require.Len(t, found, 2)
	first, second := fmt.Sprintf("0/%d", found[0].Offset), fmt.Sprintf("0/%d", found[1].Offset)
	header := "LETTER ORIGIN PHASE OPERATOR KEY REPLAYED ERROR\n"
	one := first + " " + in + "[0]@1 process check k - refused: bad one\n"
	two := second + " " + in + "[0]@3 process check k - refused: bad two\n"
	require.Equal(t, header+one+two, weir("list"))
	require.Equal(t, header, weir("list", "--phase", "decode"))
	require.Equal(t, header+two, weir("list", "--from", strings.TrimPrefix(second, "0/"), "--origin", in, "--partition", "0"))
	shown := weir("show", first)
	for _, line := range []string{
		"letter " + dlq + "[0]@" + strings.TrimPrefix(first, "0/"), "origin " + in + "[0]@1", "application " + id, "failed at TIME",
		"phase process", "operator check", "error refused: bad one", "key schema 1", "timestamp TIME", "replayed -", "key k",
		"value 7 bytes", `header trace = "t 1"`, "\nbad one",
	} {
		require.Contains(t, shown, line+"\n")
	}

	require.Equal(t, first+" would be sent to "+in+", origin "+in+"[0]@1\n1 letters would be sent, 0 refused\n",
		weir("replay", "--to", strings.TrimPrefix(second, "0/"), "--dry-run"))
	require.Len(t, c.ReadCommitted(t, in), 4)
	require.Equal(t, first+" sent to "+in+", origin "+in+"[0]@1\n1 letters sent, 0 refused\n",
		weir("replay", "--to", strings.TrimPrefix(second, "0/")))
	code, stdout, stderr := program(t, "", append([]string{"dlq", "replay", "--all"}, at...)...)
	require.Equal(t, 1, code)
	require.Equal(t, first+" refused: replayed at TIME; --force sends it again\n"+second+" sent to "+in+", origin "+in+"[0]@3\n1 letters sent, 1 refused\n", timeless(stdout))
	require.Equal(t, "weir: 1 of 2 letters refused; the lines above say why\n", stderr)
	require.Equal(t, "0 letters sent, 0 refused\n", weir("replay", "--pending"))
	require.Equal(t, header+strings.Replace(one, " - ", " TIME ", 1)+strings.Replace(two, " - ", " TIME ", 1), weir("list"))
	require.Equal(t, []string{"good", "bad one", "fine", "bad two", "bad one", "bad two"}, values(t, c, in))

	letters(t, c, id, in, out, "bad two") // mended in part: one goes through, one fails again
	require.Equal(t, []string{"good", "fine", "bad one"}, values(t, c, out))
	again := c.ReadCommitted(t, dlq)
	require.Len(t, again, 3)
	require.Contains(t, weir("list", "--pending"), fmt.Sprintf("0/%d %s[0]@3 process check k - refused: bad two\n", again[2].Offset, in),
		"the second failure has the identity of the first")
	require.Equal(t, "1 letters sent, 0 refused\n", strings.SplitAfterN(weir("replay", "--force", "--to", strings.TrimPrefix(second, "0/")), "\n", 2)[1])
}

// put writes n dead letters of records of origin to topic.
func put(t *testing.T, c *kafkatest.Cluster, topic, origin string, n, maxValue int) {
	t.Helper()
	var dead []*kgo.Record
	for i := range n {
		r := &kgo.Record{Topic: origin, Offset: int64(i), Key: []byte("k"), Value: fmt.Appendf(nil, "value %d", i), Timestamp: time.Now()}
		dead = append(dead, deadletter.New(topic, r, deadletter.Letter{
			Topic: origin, Offset: int64(i), Timestamp: r.Timestamp, Phase: "process", Operator: "o", Error: "e", ApplicationID: "app", Time: time.Now(),
		}, maxValue))
	}
	c.Produce(t, dead...)
}

func TestALetterThatWasCutOrIsNoneIsNotReplayed(t *testing.T) {
	c := kafkatest.Start(t)
	in, dlq := c.Topic(t, "in", 1), c.Topic(t, "dlq", 1)
	put(t, c, dlq, in, 1, 3)
	c.Produce(t, &kgo.Record{Topic: dlq, Value: []byte("stray")})
	at := []string{"--topic", dlq, "--brokers", c.Brokers()[0]}
	require.Contains(t, timeless(succeed(t, "", append([]string{"dlq", "show", "0/0"}, at...)...)), "value 3 bytes, cut from 7: it cannot be replayed\n")
	require.Contains(t, timeless(succeed(t, "", append([]string{"dlq", "list"}, at...)...)),
		"0/1 - - - null - deadletter: header weir.origin.topic is missing: not a dead letter\n")
	code, stdout, stderr := program(t, "", append([]string{"dlq", "replay", "--all"}, at...)...)
	require.Equal(t, 1, code)
	require.Equal(t, "weir: 2 of 2 letters refused; the lines above say why\n", stderr)
	require.Equal(t, "0/0 refused: its value was cut from 7 bytes to 3; only "+in+"[0]@0 has the whole, while that topic keeps it\n"+
		"0/1 refused: deadletter: header weir.origin.topic is missing: not a dead letter\n0 letters sent, 2 refused\n", stdout)
	require.Empty(t, c.ReadCommitted(t, in))
	code, _, stderr = program(t, "", append([]string{"dlq", "show", "0/9"}, at...)...)
	require.Equal(t, 1, code)
	require.Equal(t, "weir: "+dlq+"[0]@9 holds no committed record; weir dlq list shows those there are\n", stderr)
}

func TestAMissingOriginTopicSendsNothing(t *testing.T) {
	c := kafkatest.Start(t)
	in, dlq, gone := c.Topic(t, "in", 1), c.Topic(t, "dlq", 1), kafkatest.Name("gone")
	put(t, c, dlq, in, 1, -1)
	put(t, c, dlq, gone, 1, -1)
	code, stdout, stderr := program(t, "", "dlq", "replay", "--all", "--topic", dlq, "--brokers", c.Brokers()[0])
	require.Equal(t, 1, code)
	require.Empty(t, stdout)
	require.Equal(t, "weir: nothing was sent: origin topic "+gone+" does not exist at "+c.Brokers()[0]+"; create it, or mend the name\n", stderr)
	require.Empty(t, c.ReadCommitted(t, in))
}
