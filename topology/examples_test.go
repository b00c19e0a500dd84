package topology_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/weirstream/weir/topology"
)

// Orders are checked, split by size, and brought together by account. An error
// makes the record fail as a whole: the processor's error policy says what then.
func ExampleStream_Branch() {
	type order struct {
		ID      string `json:"id"`
		Account string `json:"account"`
		Cents   int64  `json:"cents"`
	}
	b := topology.New()
	orders := topology.Source(b, "orders", topology.String, topology.JSON[order]())
	checked := topology.MapValues(orders, "check", func(o order) (order, error) {
		if o.Cents <= 0 {
			return o, errors.New("an order needs a positive amount")
		}
		return o, nil
	})
	route := checked.Branch("route")
	route.Case("big", func(_ string, o order) bool { return o.Cents >= 1_000_00 }).
		To("big-orders", topology.String, topology.JSON[order]())
	rest := route.Default("small")
	topology.SelectKey(rest, "by-account", func(_ string, o order) (string, error) { return o.Account, nil }).
		Repartition("accounts", topology.String, topology.JSON[order](), topology.WithPartitions(6)).
		To("small-orders", topology.String, topology.JSON[order]())
	top, err := b.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(top.Describe())
	// Output:
	// guarantee: the outputs of a record and its input offset become visible together, once,
	// in one Kafka transaction. It holds within one Kafka cluster and ends at its edge.
	//
	// sub-topology 0
	//   step         name        topic                                  fed by      result fixed             offset acknowledged  external effect
	//   source       orders      orders                                 -           transaction of the task  same transaction     none
	//   map values   check       -                                      orders      transaction of the task  same transaction     none
	//   branch       route       -                                      check       transaction of the task  same transaction     none
	//   case         big         -                                      route       transaction of the task  same transaction     none
	//   sink         big-orders  big-orders                             big         transaction of the task  same transaction     none
	//   default      small       -                                      route       transaction of the task  same transaction     none
	//   select key   by-account  -                                      small       transaction of the task  same transaction     none
	//   repartition  accounts    <application.id>-accounts-repartition  by-account  transaction of the task  same transaction     none
	//
	// sub-topology 1
	//   step                name          topic                                  fed by    result fixed             offset acknowledged  external effect
	//   repartition source  accounts      <application.id>-accounts-repartition  -         transaction of the task  same transaction     none
	//   sink                small-orders  small-orders                           accounts  transaction of the task  same transaction     none
}

// Every fault is reported at once, one line each.
func ExampleBuilder_Build() {
	b := topology.New()
	lines := topology.Source(b, "lines", topology.String, topology.String)
	lines.Filter("not empty", func(_, line string) bool { return line != "" })
	lines.To("lines", topology.String, nil)
	_, err := b.Build()
	fmt.Println(err)
	fmt.Println(errors.Is(err, topology.ErrInvalid))
	// Output:
	// topology: filter "not empty": its name has the character ' ': only a-z, A-Z, 0-9, '.', '_' and '-' are allowed
	// topology: sink "lines": its value serde is nil
	// topology: sink "lines": writes topic "lines", which its records come from: they would go round for ever
	// topology: filter "not empty": its stream ends in nothing: add To, ToFunc, Emit, Repartition or Peek
	// true
}

// A Message shows and sets what goes with key and value.
func ExampleMapMessage() {
	b := topology.New()
	lines := topology.Source(b, "lines", topology.String, topology.String)
	tagged := topology.MapMessage(lines, "tag",
		func(m topology.Message[string, string]) (topology.Message[string, string], error) {
			from := fmt.Sprintf("%s[%d]@%d", m.Origin.Topic, m.Origin.Partition, m.Origin.Offset)
			return topology.WithValue(m.WithHeader("from", []byte(from)), strings.ToUpper(m.Value)), nil
		})
	log := slog.New(slog.DiscardHandler)
	tagged.Peek("log", func(m topology.Message[string, string]) {
		log.Debug("tagged", "topic", m.Origin.Topic, "offset", m.Origin.Offset)
	})
	tagged.To("tagged", topology.String, topology.String)
	top, err := b.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := top.Resolve("tagger")
	if err != nil {
		fmt.Println(err)
		return
	}
	rec := &topology.Record{
		Origin: topology.Origin{Topic: "lines", Partition: 3, Offset: 42},
		Key:    []byte("k"), Value: []byte("hello"),
	}
	err = plan.Runner().Process(rec, func(out *topology.Output) {
		fmt.Printf("%s %s %s=%s\n", out.Key, out.Value, out.Headers[0].Key, out.Headers[0].Value)
	})
	fmt.Println(err)
	// Output:
	// k HELLO from=lines[3]@42
	// <nil>
}

// A tombstone is a null value. Nullable lets it through.
func ExampleNullable() {
	b := topology.New()
	users := topology.Source(b, "users", topology.String, topology.Nullable(topology.String))
	topology.MapValues(users, "upper", func(name *string) (*string, error) {
		if name == nil {
			return nil, nil
		}
		upper := strings.ToUpper(*name)
		return &upper, nil
	}).To("upper-users", topology.String, topology.Nullable(topology.String))
	top, err := b.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := top.Resolve("users")
	if err != nil {
		fmt.Println(err)
		return
	}
	r := plan.Runner()
	for _, value := range [][]byte{[]byte("ann"), nil} {
		rec := &topology.Record{Origin: topology.Origin{Topic: "users"}, Key: []byte("1"), Value: value}
		err := r.Process(rec, func(out *topology.Output) { fmt.Printf("%s=%s null=%t\n", out.Key, out.Value, out.Value == nil) })
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// 1=ANN null=false
	// 1= null=true
}
