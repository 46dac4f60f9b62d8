package prometheus

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"heddle/engine/observe"
	"heddle/engine/observe/meter"
	"heddle/engine/plan"
	"heddle/engine/schedule"
)

// full has a series of every metric.
func full() *meter.Memory {
	memory := meter.NewMemory()
	m := meter.New(memory)
	q := observe.Query{
		Kind: "rank or", Queries: 1, Took: 3 * time.Millisecond, Missing: 512,
		Trace: schedule.Trace{Mode: schedule.Sync, Class: schedule.Device, Processor: "gpu 0",
			Estimate: 3 * time.Millisecond, Batch: 5, Queued: time.Millisecond, Ran: 2 * time.Millisecond, Attempts: 2},
	}
	m.Answered(context.Background(), &q)
	m.Answered(context.Background(), &q)
	m.Happened(schedule.Event{Mode: schedule.Sync})
	m.Happened(schedule.Event{Processor: "gpu 0"})
	memory.Register(func() meter.State {
		return meter.State{
			Schedule: schedule.Stats{Load: 0.25, Queued: [3]int{1, 2, 3}, Processors: []schedule.ProcessorStats{{Name: "gpu 0", Busy: 1500 * time.Millisecond}}},
			Lists:    map[string]plan.CacheStats{"gpu 0": {Hits: 9}},
			Resident: map[string]uint64{"gpu 0": 1 << 30},
		}
	})
	return memory
}

func TestCollect(t *testing.T) {
	want := `
# HELP heddle_batch_jobs Jobs of the batch that answered a query, once a query.
# TYPE heddle_batch_jobs histogram
heddle_batch_jobs_bucket{kind="rank or",mode="sync",processor="gpu 0",le="1"} 0
heddle_batch_jobs_bucket{kind="rank or",mode="sync",processor="gpu 0",le="2"} 0
heddle_batch_jobs_bucket{kind="rank or",mode="sync",processor="gpu 0",le="4"} 0
` + line("8", "16", "32", "64", "128", "256", "512", "1024", "2048", "4096", "8192", "16384", "32768", "65536", "+Inf") +
		`heddle_batch_jobs_sum{kind="rank or",mode="sync",processor="gpu 0"} 10
heddle_batch_jobs_count{kind="rank or",mode="sync",processor="gpu 0"} 2
# HELP heddle_list_cache_hits_total Lists of queries that were resident.
# TYPE heddle_list_cache_hits_total counter
heddle_list_cache_hits_total{processor="gpu 0"} 9
# HELP heddle_processor_busy_seconds_total Time of all lanes with a batch.
# TYPE heddle_processor_busy_seconds_total counter
heddle_processor_busy_seconds_total{processor="gpu 0"} 1.5
# HELP heddle_queries_total Queries by what became of them.
# TYPE heddle_queries_total counter
heddle_queries_total{class="device",kind="rank or",mode="sync",outcome="answered",processor="gpu 0"} 2
# HELP heddle_queued_jobs Jobs that wait.
# TYPE heddle_queued_jobs gauge
heddle_queued_jobs{class="either"} 1
heddle_queued_jobs{class="device"} 2
heddle_queued_jobs{class="host"} 3
`
	err := testutil.CollectAndCompare(New(full()), strings.NewReader(want), "heddle_batch_jobs", "heddle_list_cache_hits_total",
		"heddle_processor_busy_seconds_total", "heddle_queries_total", "heddle_queued_jobs")
	if err != nil {
		t.Error(err)
	}
}

// line is the buckets of batches that both queries are in.
func line(bounds ...string) (s string) {
	for _, b := range bounds {
		s += `heddle_batch_jobs_bucket{kind="rank or",mode="sync",processor="gpu 0",le="` + b + `"} 2` + "\n"
	}
	return s
}

// Every metric is there, and keeps the conventions of Prometheus.
func TestLint(t *testing.T) {
	c := New(full())
	problems, err := testutil.CollectAndLint(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(c); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if len(families) != len(meter.Descs()) {
		t.Errorf("%d metrics of %d", len(families), len(meter.Descs()))
	}
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "heddle_") {
			t.Errorf("%s does not begin with heddle_", f.GetName())
		}
	}
}

// A label that Prometheus cannot take is an error of the collection, not a panic.
func TestInvalidLabel(t *testing.T) {
	memory := meter.NewMemory()
	meter.New(memory).Happened(schedule.Event{Processor: "\xff"})
	registry := prometheus.NewRegistry()
	registry.MustRegister(New(memory))
	if _, err := registry.Gather(); err == nil || !strings.Contains(err.Error(), "heddle_processors_out_total") {
		t.Errorf("error %v", err)
	}
}

// Two engines of a service differ in a label.
func TestTwoEngines(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	for _, index := range []string{"books", "papers"} {
		r := prometheus.WrapRegistererWith(prometheus.Labels{"index": index}, registry)
		if err := r.Register(New(full())); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := testutil.GatherAndCount(registry, "heddle_queries_total"); n != 2 || err != nil {
		t.Errorf("%d series, error %v", n, err)
	}
}
