package main

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weirstream/weir/internal/kafkatest"
)

// expected counts the flights of the shipped file by topic and identity, with
// none of the program's types.
func expected(t *testing.T) map[string]map[string]int {
	t.Helper()
	text, err := os.ReadFile("testdata/flights-2k.json")
	require.NoError(t, err)
	var rows []map[string]any
	require.NoError(t, json.Unmarshal(text, &rows))
	require.Len(t, rows, 2000)
	want := map[string]map[string]int{"flights-on-time": {}, "flights-delayed": {}, "flights-late": {}}
	totals := map[string]int{}
	for _, r := range rows {
		delay, ok := r["delay"].(float64)
		require.True(t, ok)
		topic := "flights-on-time"
		if delay >= 60 {
			topic = "flights-late"
		} else if delay >= 15 {
			topic = "flights-delayed"
		}
		want[topic][identity(r["date"], r["origin"], r["destination"], r["delay"], r["distance"])]++
		totals[topic]++
	}
	// Counted with another program (Python) from the same file.
	require.Equal(t, map[string]int{"flights-on-time": 1549, "flights-delayed": 352, "flights-late": 99}, totals)
	return want
}

func identity(fields ...any) string { return fmt.Sprint(fields...) }

func headers(r kafkatest.Record) []kgo.RecordHeader {
	var hs []kgo.RecordHeader
	for _, h := range r.Headers {
		hs = append(hs, kgo.RecordHeader{Key: h.Key, Value: h.Value})
	}
	return hs
}
