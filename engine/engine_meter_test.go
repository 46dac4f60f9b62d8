package engine

import (
	"context"
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"heddle/engine/observe"
	"heddle/engine/observe/meter"
	heddleprometheus "heddle/engine/observe/prometheus"
	"heddle/engine/observe/tracing"
	"heddle/engine/plan"
)

// TestEngineMeter compares metrics and spans with the queries that were asked.
func TestEngineMeter(t *testing.T) {
	memory, kept := meter.NewMemory(), tracetest.NewInMemoryExporter()
	observer := observe.All(meter.New(memory), tracing.New(sdk.NewTracerProvider(sdk.WithSyncer(kept))))
	e := started(t, EngineOptions{Backends: processorsOf(t), Results: 1 << 20, Observer: observer})
	memory.Register(e.Meter)
	const asked = 20
	qs := testCorpus().queries(asked)
	for range 2 {
		for _, q := range qs {
			if _, err := e.Search(t.Context(), q, SearchOptions{}, Call{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Search(gone, qs[0], SearchOptions{}, Call{Fresh: true}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}

	s := memory.Snapshot()
	sum := func(name string, matching ...string) (n float64) {
		for _, x := range s {
			if x.Desc.Name == name && (len(matching) == 0 || x.Labels[len(x.Labels)-1] == matching[0]) {
				n += x.Value
			}
		}
		return n
	}
	ran := sum("result_cache_misses_total")
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"answered", sum("queries_total", "answered"), 2 * asked},
		{"cancelled", sum("queries_total", "cancelled"), 1},
		{"cached", sum("cached_queries_total"), sum("result_cache_hits_total")},
		{"cached or run", sum("cached_queries_total") + ran, 2 * asked},
		{"jobs", sum("jobs_total", "answered"), ran},
		{"jobs of processors", sum("processor_jobs_total"), ran},
		{"processors", sum("processor_up"), 2},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
	if sum("resident_bytes") == 0 || ran > asked {
		t.Errorf("%v bytes are resident, %v of %d queries were run", sum("resident_bytes"), ran, asked)
	}

	spans := make(map[string]int)
	for _, x := range kept.GetSpans() {
		spans[x.Name]++
	}
	if spans["run"] != int(ran) || spans["queue"] < int(ran) {
		t.Errorf("%v queries were run, spans %v", ran, spans)
	}

	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(heddleprometheus.New(memory))
	for range 2 {
		if families, err := registry.Gather(); err != nil || len(families) < 20 {
			t.Errorf("%d metrics: %v", len(families), err)
		}
		if err := e.Close(); err != nil && !errors.Is(err, plan.ErrClosed) { // asked afterwards, it says nothing
			t.Error(err)
		}
	}
}
