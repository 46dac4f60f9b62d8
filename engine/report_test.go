package engine

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	client "github.com/prometheus/client_model/go"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"heddle/engine/observe"
	heddleprometheus "heddle/engine/observe/prometheus"
	"heddle/engine/observe/tracing"
	"heddle/engine/plan"
)

// TestEngineReports compares metrics and spans with the queries asked.
func TestEngineReports(t *testing.T) {
	metrics, kept := heddleprometheus.New(), tracetest.NewInMemoryExporter()
	observer := observe.All(metrics, tracing.New(sdk.NewTracerProvider(sdk.WithSyncer(kept))))
	e := started(t, Options{Backends: processorsOf(t), Results: 1 << 20, Observer: observer})
	metrics.Watch(e.Stats)
	const asked = 20
	qs := testCorpus().queries(asked)
	for range 2 {
		for _, q := range qs {
			if _, err := e.search(t.Context(), q, searchOptions{}, calling{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.search(gone, qs[0], searchOptions{}, calling{Fresh: true}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}

	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(metrics)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := func(name string, outcome ...string) (n float64) {
		for _, f := range families {
			if f.GetName() != "heddle_"+name {
				continue
			}
			for _, x := range f.GetMetric() {
				if len(outcome) == 0 || slices.ContainsFunc(x.GetLabel(), func(l *client.LabelPair) bool { return l.GetValue() == outcome[0] }) {
					n += x.GetCounter().GetValue() + x.GetGauge().GetValue()
				}
			}
		}
		return n
	}
	ran := sum("result_cache_misses_total")
	for _, c := range []struct {
		name      string
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
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
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

	for range 2 {
		if families, err := registry.Gather(); err != nil || len(families) < 20 {
			t.Errorf("%d metrics: %v", len(families), err)
		}
		if err := e.Close(); err != nil && !errors.Is(err, plan.ErrClosed) { // without an engine, Gather must still succeed
			t.Error(err)
		}
	}
}
