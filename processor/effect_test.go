package processor_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/eos"
	"github.com/weirstream/weir/eos/guard"
	"github.com/weirstream/weir/eos/guard/postgres"
	"github.com/weirstream/weir/internal/kafkatest"
	"github.com/weirstream/weir/internal/pgtest"
	"github.com/weirstream/weir/processor"
	"github.com/weirstream/weir/topology"
)

// payment is an order to be charged.
type payment struct {
	ID    string
	Seq   int
	Cents int64
}

// bank counts what it did under each id.
type bank struct {
	mu   sync.Mutex
	done map[string]int
	keys map[guard.Sum]bool
	asks int                       // calls, repeats included
	says func(payment) guard.Reply // nil: performs
}

func newBank() *bank { return &bank{done: map[string]int{}, keys: map[guard.Sum]bool{}} }

// charge honours keys.
func (b *bank) charge(_ context.Context, call guard.Call, p payment) guard.Reply {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asks++
	if b.says != nil {
		if r := b.says(p); r.Verdict != guard.Performed {
			return r
		}
	}
	if !b.keys[call.Sum] {
		b.keys[call.Sum] = true
		b.done[fmt.Sprintf("%s/%d", p.ID, p.Seq)]++
	}
	return guard.Reply{Verdict: guard.Performed, Result: []byte("receipt of " + p.ID)}
}

func (b *bank) find(context.Context, guard.Call, payment) guard.Answer {
	return guard.Answer{Found: guard.NoAnswer}
}

func (b *bank) charges() map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := map[string]int{}
	for id, n := range b.done {
		all[id] = n
	}
	return all
}

// asked is how often it was called.
func (b *bank) asked() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.asks
}

// chargeEffect charges each order at the bank once.
func chargeEffect(b *bank, opts ...guard.Option) *guard.Effect[payment] {
	source := guard.Source[payment]{Name: "shop", IssuedBy: "the shop", Lives: time.Hour}
	event := guard.Identify(source, topology.JSON[payment](),
		func(p payment) guard.Op { return guard.OpOf(p.ID, "charge", guard.Seq(p.Seq)) },
		func(p payment) []any { return []any{p.Cents} })
	return guard.Keyed("charge", event, guard.Contract{Remote: "bank", Window: 24 * time.Hour}, b.charge, b.find, time.Minute, opts...)
}

// shop emits a charge for each order and writes how each ended.
func shop(in, out string, charge *guard.Effect[payment]) func(*topology.Builder) {
	return func(b *topology.Builder) {
		topology.Source(b, in, topology.String, topology.JSON[payment]()).Emit("charge", charge)
		ended := topology.Outcomes(b, "charged", charge)
		topology.MapValues(ended, "line", func(o topology.Outcome[payment]) (string, error) {
			return fmt.Sprintf("%s/%d %s %s", o.Payload.ID, o.Payload.Seq, o.State, o.Result), nil
		}).To(out, topology.String, topology.String)
	}
}

// database is a fresh one, with what asks it.
func database(t *testing.T) (*postgres.DB, func(sql string) (n int)) {
	t.Helper()
	address := pgtest.Database(t)
	db, err := postgres.Open(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(db.Close)
	conn, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return db, func(sql string) (n int) {
		require.NoError(t, conn.QueryRow(t.Context(), sql).Scan(&n))
		return n
	}
}

func gateOf(t *testing.T, db *postgres.DB, effects ...guard.Declared) processor.Option {
	t.Helper()
	gate, err := guard.New(db.Ledger(), effects...)
	require.NoError(t, err)
	return processor.WithGate(gate)
}

func putPayments(t *testing.T, c *kafkatest.Cluster, topic string, ps ...payment) {
	t.Helper()
	var records []*kgo.Record
	for _, p := range ps {
		value, err := topology.JSON[payment]().Append(nil, p)
		require.NoError(t, err)
		records = append(records, &kgo.Record{Topic: topic, Partition: int32(len(p.ID)+p.Seq) % 3, Key: []byte(p.ID), Value: value})
	}
	c.Produce(t, records...)
}

// settled waits until nothing of the effects is open and every outcome has been
// published, then until the application has read them.
func settled(t *testing.T, c *kafkatest.Cluster, id string, ask func(string) int, in string) {
	t.Helper()
	drained(t, c, id, in)
	drained(t, c, id+"-delivery", id+"-charge-intents")
	require.Eventually(t, func() bool {
		return ask("SELECT count(*) FROM weir.effect") == 0 && ask("SELECT count(*) FROM weir.outcome") == 0
	}, waitLong, waitStep)
	drained(t, c, id+"-delivery", id+"-charge-intents")
	drained(t, c, id, id+"-charge-outcomes")
}

// TestEachOrderIsChargedOnce is the whole way: an intent in the Kafka
// transaction, the ledger, the call, and the outcome as a record. Repeats are
// suppressed, other content under a known key is kept aside.
func TestEachOrderIsChargedOnce(t *testing.T) {
	c, b := kafkatest.Start(t), newBank()
	db, ask := database(t)
	in, out, id := c.Topic(t, "orders", 3), c.Topic(t, "charged", 1), kafkatest.Name("shop")
	var orders []payment
	want := map[string]int{}
	var lines []string
	for i := range 200 {
		for seq := 1; seq <= 2; seq++ { // an order that is charged twice on purpose has two versions
			p := payment{ID: fmt.Sprintf("o-%d", i), Seq: seq, Cents: 100}
			orders = append(orders, p)
			want[fmt.Sprintf("%s/%d", p.ID, p.Seq)] = 1
			lines = append(lines, fmt.Sprintf("%s/%d done receipt of %s", p.ID, p.Seq, p.ID))
		}
	}
	charge := chargeEffect(b)
	app := start(t, c, id, shop(in, out, charge), gateOf(t, db, charge), processor.WithTrimInterval(trimOften))
	putPayments(t, c, in, orders...)
	putPayments(t, c, in, orders...) // the sender repeats itself
	putPayments(t, c, in, payment{ID: "o-7", Seq: 1, Cents: 999})
	settled(t, c, id, ask, in)
	require.Equal(t, want, b.charges())
	require.Equal(t, len(want), b.asked(), "the bank sees no repeat")
	require.ElementsMatch(t, lines, values(t, c, out))
	require.Equal(t, 1, ask("SELECT count(*) FROM weir.conflict WHERE kind = 'conflict'"))
	trimmed(t, c, id+"-delivery", id+"-charge-intents")
	app.stop(t)
	require.Empty(t, c.OpenTransactions(t, id+"-delivery/"))
}

// TestAnApplicationWithEffectsNeedsAGateThatKnowsThem.
func TestAnApplicationWithEffectsNeedsAGateThatKnowsThem(t *testing.T) {
	charge := chargeEffect(newBank())
	brokers := processor.WithBrokers("127.0.0.1:1")
	_, err := processor.New("app", shop("in", "out", charge), brokers)
	require.EqualError(t, err, "eos: effect charge: the application has no gate: give one WithGate")
	other, err := guard.New(new(postgres.Ledger))
	require.NoError(t, err)
	_, err = processor.New("app", shop("in", "out", charge), brokers, processor.WithGate(other))
	require.EqualError(t, err, "eos: effect charge: the gate does not know it: give it to guard.New")
	_, err = processor.New("app", shop("in", "out", charge), brokers, processor.WithGate(nil))
	require.EqualError(t, err, "eos: the gate is nil")
}

// TestAnEffectOfAnotherApplicationIsNotTouched: two applications share a database
// and call an effect by the same name.
func TestAnEffectOfAnotherApplicationIsNotTouched(t *testing.T) {
	c, charge := kafkatest.Start(t), chargeEffect(newBank())
	db, _ := database(t)
	require.NoError(t, db.Ledger().Own(t.Context(), "other", []string{charge.EffectName()}))
	in, out, id := c.Topic(t, "orders", 3), c.Topic(t, "charged", 1), kafkatest.Name("shop")
	err := start(t, c, id, shop(in, out, charge), gateOf(t, db, charge)).end(t)
	require.ErrorIs(t, err, eos.ErrConfig)
	require.ErrorContains(t, err, "guard: effect charge: it belongs to another application in this ledger, other: rename it, or give "+id+" a ledger of its own")
}

// TestAnApplicationIsNotCalledLikeTheDeliveryOfAnother: they would share a group
// and a prefix of transactional ids, and fence each other.
func TestAnApplicationIsNotCalledLikeTheDeliveryOfAnother(t *testing.T) {
	_, err := processor.New("orders-delivery", split("in", "out"), processor.WithBrokers("127.0.0.1:1"))
	require.EqualError(t, err,
		`eos: application id "orders-delivery" ends in "-delivery", and would share a group with the delivery of "orders": choose another one`)
}

// TestRow21AnEffectInDoubtHoldsUpItsOrderAndNoOther.
func TestRow21AnEffectInDoubtHoldsUpItsOrderAndNoOther(t *testing.T) {
	c, b := kafkatest.Start(t), newBank()
	db, ask := database(t)
	in, out, id := c.Topic(t, "orders", 3), c.Topic(t, "charged", 1), kafkatest.Name("shop")
	silent := true
	b.says = func(p payment) guard.Reply {
		if silent && p.ID == "a" && p.Seq == 1 {
			return guard.Reply{Verdict: guard.Unclear}
		}
		return guard.Reply{Verdict: guard.Performed}
	}
	charge := chargeEffect(b, guard.Backoff(50*time.Millisecond, 100*time.Millisecond), guard.Attempts(1000), guard.Lease(12*time.Second))
	app := start(t, c, id, shop(in, out, charge), gateOf(t, db, charge))
	putPayments(t, c, in, payment{"a", 1, 1}, payment{"b", 1, 1})
	require.Eventually(t, func() bool { return b.charges()["b/1"] == 1 }, waitLong, waitStep)
	putPayments(t, c, in, payment{"a", 2, 1}, payment{"b", 2, 1})
	require.Eventually(t, func() bool { return b.charges()["b/2"] == 1 }, waitLong, waitStep)
	require.Eventually(t, func() bool { return ask("SELECT count(*) FROM weir.effect WHERE entity = 'a'") == 2 }, waitLong, waitStep)
	before := b.asked()
	require.Eventually(t, func() bool { return b.asked() >= before+2 }, waitLong, waitStep, "a/1 is tried again")
	require.Equal(t, map[string]int{"b/1": 1, "b/2": 1}, b.charges())
	b.mu.Lock()
	silent = false
	b.mu.Unlock()
	settled(t, c, id, ask, in)
	require.Equal(t, map[string]int{"a/1": 1, "a/2": 1, "b/1": 1, "b/2": 1}, b.charges())
	app.stop(t)
}
