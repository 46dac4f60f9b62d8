package schedule

import (
	"context"
	"sync"
	"testing"
	"time"

	"heddle/engine"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/workload"
	"heddle/engine/index/hdl"
	"heddle/engine/internal/cputime"
	"heddle/engine/plan"
)

// quick is a device that answers each query with found documents after a while.
type quick struct{ idle }

const found = 250

func (quick) Info() plan.Info {
	return plan.Info{Kind: "opencl", Device: "quick", Type: "gpu", ComputeUnits: 100, Batch: 1 << 26}
}

func (quick) Load(context.Context, *plan.Source) (plan.Store, error) {
	return &quickStore{docs: make([]uint32, found<<14)}, nil
}

type quickStore struct {
	idleStore
	mu   sync.Mutex
	docs []uint32
}

func (s *quickStore) Match(_ context.Context, b *plan.MatchBatch, out *plan.Results) error {
	out.Reset()
	n := uint64(0)
	out.Offsets = append(out.Offsets[:0], 0)
	for range b.Queries() {
		n += found
		out.Offsets = append(out.Offsets, n)
	}
	out.Docs = s.docs[:n]
	s.mu.Lock()
	time.Sleep(600 * time.Microsecond)
	s.mu.Unlock()
	return nil
}

// BenchmarkCallers has single queries of many callers on a device that answers each batch after the
// same time, so that the rest is the cost of their way.
func BenchmarkCallers(b *testing.B) {
	w, err := workload.Generate(b.Context(), 1, 1, workload.Clustered, 1<<20)
	if err != nil {
		b.Fatal(err)
	}
	dict, err := hdl.NewDictionary(w.Terms)
	if err != nil {
		b.Fatal(err)
	}
	e, err := startMachine(b.Context(), w.Source, dict, []plan.Backend{quick{}}, "", "")
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := e.close(); err != nil {
			b.Error(err)
		}
	}()
	qs := harness.Queries(w, 100_000)
	v := &served{name: "gov", queries: qs, right: make([]uint64, len(qs)), request: conjunction, digest: func(_ int, h *engine.Hits) uint64 { return sample(h.Docs) }}
	for i := range v.right {
		v.right[i] = sample(make([]uint32, found))
	}
	v.ask = v.search
	for range 2 { // the engine learns
		b.ResetTimer()
		began := cputime.Total()
		if _, _, err := closed(b.Context(), v.answer(e, call{}), manyCallers, b.N, time.Hour); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64((cputime.Total()-began).Nanoseconds())/float64(b.N), "cpu-ns/op")
	}
	p := e.e.Stats().Processors[0]
	b.ReportMetric(float64(p.Jobs)/float64(p.Batches), "jobs/batch")
}
