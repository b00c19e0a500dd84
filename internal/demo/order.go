package demo

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

// customers is the number of keys.
const customers = 40

// Order is an input value. Numbers count from 0 and are unique; those of one
// customer, which is the key, ascend.
type Order struct {
	Number int   `json:"order"`
	Cents  int64 `json:"cents"`
}

// Bill is the output value that an order causes.
type Bill struct {
	Number int   `json:"order"`
	Net    int64 `json:"net"`
	Tax    int64 `json:"tax"`
	Gross  int64 `json:"gross"`
}

// Charge is the transform of both fleets.
func Charge(o Order) (Bill, error) {
	tax := (o.Cents*19 + 50) / 100
	return Bill{Number: o.Number, Net: o.Cents, Tax: tax, Gross: o.Cents + tax}, nil
}

// Input is an order with its key.
type Input struct {
	Key   string
	Order Order
}

// nextInput makes the order of a number.
func nextInput(rng *rand.Rand, number int) Input {
	return Input{
		Key:   fmt.Sprintf("customer-%02d", rng.IntN(customers)),
		Order: Order{Number: number, Cents: 1 + rng.Int64N(100_000)},
	}
}

// value encodes the order.
func (in Input) value() []byte {
	b, err := json.Marshal(in.Order)
	if err != nil { // two integers
		panic(err)
	}
	return b
}
