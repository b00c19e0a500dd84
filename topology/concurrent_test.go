package topology_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/topology"
)

// Runners of one Plan work at once without sharing anything that changes: run
// with -race.
func TestRunnersAreIndependent(t *testing.T) {
	t.Parallel()
	b := topology.New()
	s := topology.Source(b, "in", topology.String, topology.JSON[int]())
	s = topology.MapMessage(s, "tag", func(m topology.Message[string, int]) (topology.Message[string, int], error) {
		return m.WithHeader("worker", []byte(m.Key)), nil
	})
	s.Repartition("r", topology.String, topology.JSON[int]()).To("out", topology.String, topology.JSON[int]())
	top, err := b.Build()
	require.NoError(t, err)
	plan, err := top.Resolve("app")
	require.NoError(t, err)

	var workers sync.WaitGroup
	for w := range 4 {
		workers.Go(func() {
			r := plan.Runner()
			worker := fmt.Sprint("w", w)
			for i := range 2000 {
				rec := record("in", fmt.Sprint(i))
				rec.Key = []byte(worker)
				var got []topology.Output
				err := r.Process(rec, func(o *topology.Output) { got = append(got, *o) })
				if err != nil || len(got) != 1 || got[0].Topic != "app-r-repartition" || string(got[0].Key) != worker ||
					string(got[0].Value) != fmt.Sprint(i) || string(got[0].Headers[0].Value) != worker {
					t.Errorf("worker %s, record %d: outputs %v, error %v", worker, i, got, err)
					return
				}
			}
		})
	}
	workers.Wait()
}
