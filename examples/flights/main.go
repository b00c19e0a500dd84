// Flights sorts flight records by delay: a line that is no flight becomes a dead
// letter, a flight gets the names of its airports, and goes to the topic of its
// delay. The data is public; see testdata/SOURCE.md.
//
//	weir dev --topic flights:3 --topic flights-on-time:3 --topic flights-delayed:3 --topic flights-late:3 --topic flights-dlq:1
//	go run ./examples/flights --brokers 127.0.0.1:9092
//	go run ./examples/flights feed --brokers 127.0.0.1:9092 --file examples/flights/testdata/flights-2k.json
//	weir dlq list --topic flights-dlq
package main

import (
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/weirstream/weir/processor"
	"github.com/weirstream/weir/topology"
)

// flight is a line of the input. Pointers tell a field that is missing from 0.
type flight struct {
	Date        string `json:"date"`
	Delay       *int   `json:"delay"` // minutes late at arrival; negative: early
	Distance    *int   `json:"distance"`
	Origin      string `json:"origin"`
	Destination string `json:"destination"`
}

// arrival is a line of the output.
type arrival struct {
	Date     string `json:"date"`
	Delay    int    `json:"delay"`
	Distance int    `json:"distance"`
	From     string `json:"from"`
	To       string `json:"to"`
	FromCity string `json:"from_city"`
	ToCity   string `json:"to_city"`
}

// Flights less than 15 minutes late count as on time in these statistics.
const (
	delayed = 15
	late    = 60
)

//go:embed testdata/airports.csv
var airportsCSV string

func main() {
	if len(os.Args) > 1 && os.Args[1] == "feed" {
		os.Exit(feedMain(os.Args[2:]))
	}
	cities, err := readCities(airportsCSV)
	if err != nil {
		fmt.Fprintln(os.Stderr, "flights:", err)
		os.Exit(1)
	}
	processor.Main("flights", sorter(cities),
		processor.WithErrorPolicy(topology.PhaseDecode, processor.DeadLetter()),
		processor.WithErrorPolicy(topology.PhaseProcess, processor.DeadLetter()))
}

// sorter is the topology. cities is by IATA code, and read only.
func sorter(cities map[string]string) func(*topology.Builder) {
	return func(b *topology.Builder) {
		lines := topology.Source(b, "flights", topology.Nullable(topology.String), topology.JSON[flight]())
		valid := topology.MapValues(lines, "validate", validate)
		named := topology.MapValues(valid, "airports", func(f flight) (arrival, error) { return enrich(cities, f) })
		byOrigin := topology.SelectKey(named, "by-origin", func(_ *string, a arrival) (string, error) { return a.From, nil })
		split := byOrigin.Branch("delay")
		out := topology.JSON[arrival]()
		split.Case("late", func(_ string, a arrival) bool { return a.Delay >= late }).To("flights-late", topology.String, out)
		split.Case("delayed", func(_ string, a arrival) bool { return a.Delay >= delayed }).To("flights-delayed", topology.String, out)
		split.Default("on-time").To("flights-on-time", topology.String, out)
	}
}

func validate(f flight) (flight, error) {
	switch {
	case f.Delay == nil:
		return f, errors.New("delay is missing")
	case f.Distance == nil || *f.Distance <= 0:
		return f, errors.New("distance is missing or not positive")
	case f.Origin == f.Destination:
		return f, fmt.Errorf("flies from %q to itself", f.Origin)
	}
	if _, err := time.Parse("2006/01/02 15:04", f.Date); err != nil {
		return f, fmt.Errorf("date %q is not of the form 2006/01/02 15:04", f.Date)
	}
	return f, nil
}

func enrich(cities map[string]string, f flight) (arrival, error) {
	a := arrival{Date: f.Date, Delay: *f.Delay, Distance: *f.Distance, From: f.Origin, To: f.Destination}
	a.FromCity, a.ToCity = cities[f.Origin], cities[f.Destination]
	if a.FromCity == "" {
		return a, fmt.Errorf("airport %q is unknown", f.Origin)
	}
	if a.ToCity == "" {
		return a, fmt.Errorf("airport %q is unknown", f.Destination)
	}
	return a, nil
}

// readCities reads "city, state" by IATA code.
func readCities(text string) (map[string]string, error) {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("airports: %w", err)
	}
	cities := map[string]string{}
	for _, row := range rows[1:] { // iata, name, city, state
		cities[row[0]] = row[2] + ", " + row[3]
	}
	return cities, nil
}
