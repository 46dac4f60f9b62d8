package prometheus

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	client "github.com/prometheus/client_model/go"

	"heddle/engine/observe"
	"heddle/engine/plan"
)

const ms = time.Millisecond

// answered is a query that ran in a batch.
func answered() observe.Explanation {
	return observe.Explanation{
		Kind: "and", Queries: 1, Took: 5 * ms, Mode: "sync", Class: "device", Processor: "gpu",
		Estimate: 6 * ms, Batch: 32, Queued: 1 * ms, Ran: 4 * ms, Attempts: 1,
	}
}

// snapshot holds a different value in each field.
func snapshot() observe.Stats {
	s := observe.Stats{
		Mode: "sync", Load: 0.8, Capacity: 64, Answered: 10, Failed: 1, Refused: 2, Expired: 3, Stolen: 4,
		Processors: []observe.Processor{
			{Name: "gpu", Running: 2, Batches: 5, Jobs: 50, Busy: 1500 * ms, Memory: 60,
				Lists: &plan.CacheStats{Capacity: 100, Used: 61, Lists: 6, Hits: 3, Misses: 7, Evicted: 8, BytesIn: 99}},
			{Name: "host", Removed: plan.ErrDeviceLost, Memory: 70},
		},
		Results: observe.ResultCache{Capacity: 1000, Bytes: 500, Entries: 9, Hits: 11, Misses: 12, Evicted: 13, Refused: 14},
	}
	s.Waiting.Either, s.Waiting.Device, s.Waiting.Host = 15, 16, 17
	return s
}

// full has a series of every metric.
func full() *Metrics {
	m := New()
	q := answered()
	q.Attempts = 2
	m.Answered(context.Background(), &q)
	m.Answered(context.Background(), &q)
	m.Happened(observe.Event{Mode: "sync"})
	m.Happened(observe.Event{Processor: "gpu", Err: plan.ErrDeviceLost})
	m.Watch(snapshot)
	return m
}

// values maps NAME{VALUE,VALUE…} to the value of a counter or gauge, the count of a histogram.
type values map[string]float64

// gather collects m. It also returns the sums of histograms.
func gather(t *testing.T, m *Metrics) (all, sums values) {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(m); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all, sums = values{}, values{}
	for _, f := range families {
		name := strings.TrimPrefix(f.GetName(), "heddle_")
		for _, x := range f.GetMetric() {
			labels := make([]string, 0, 5)
			for _, l := range x.GetLabel() { // in the order of their names
				labels = append(labels, l.GetValue())
			}
			key := name + "{" + strings.Join(labels, ",") + "}"
			switch f.GetType() {
			case client.MetricType_HISTOGRAM:
				all[key], sums[key] = float64(x.GetHistogram().GetSampleCount()), x.GetHistogram().GetSampleSum()
			case client.MetricType_COUNTER:
				all[key] = x.GetCounter().GetValue()
			default:
				all[key] = x.GetGauge().GetValue()
			}
		}
	}
	return all, sums
}

func (v values) expect(t *testing.T, want values) {
	t.Helper()
	for key, n := range want {
		if v[key] != n {
			t.Errorf("%s is %v, want %v", key, v[key], n)
		}
	}
}

func TestAnswered(t *testing.T) {
	m := New()
	ctx := t.Context()
	q := answered()
	m.Answered(ctx, &q)
	q.Queries, q.Attempts = 10, 3
	m.Answered(ctx, &q)
	m.Answered(ctx, &observe.Explanation{Kind: "and", Queries: 1, Mode: "auto", Class: "either", Cached: true, Took: ms})
	m.Answered(ctx, &observe.Explanation{Kind: "and", Mode: "auto", Class: "either", Err: plan.ErrClosed, Outcome: observe.Refused})
	m.Answered(ctx, &observe.Explanation{Kind: "and", Mode: "async", Class: "either", Err: context.DeadlineExceeded, Outcome: observe.Expired})
	failed := answered()
	failed.Err, failed.Outcome, failed.Processor, failed.Ran = errors.New("a fault"), observe.Failed, "", 0
	m.Answered(ctx, &failed)
	m.Happened(observe.Event{Mode: "sync"})
	m.Happened(observe.Event{Mode: "sync"})
	m.Happened(observe.Event{Processor: "gpu", Err: plan.ErrDeviceLost})
	m.Happened(observe.Event{Processor: "gpu"}) // restored

	all, sums := gather(t, m)
	all.expect(t, values{ // labels: class, kind, mode, outcome, processor
		"queries_total{device,and,sync,answered,gpu}": 11,
		"queries_total{either,and,auto,answered,}":    1,
		"queries_total{either,and,auto,refused,}":     1,
		"queries_total{either,and,async,expired,}":    1,
		"queries_total{device,and,sync,failed,}":      1,
		"cached_queries_total{and}":                   1,
		"retries_total{gpu}":                          2,
		"mode_changes_total{sync}":                    2,
		"mode_changes_total{}":                        0,
		"processors_removed_total{gpu}":               1,
		"processors_removed_total{}":                  0,
		"query_duration_seconds{and,sync,answered}":   2,
		"query_duration_seconds{and,auto,answered}":   1, // cached
		"queue_duration_seconds{and,sync,gpu}":        2,
		"queue_duration_seconds{and,sync,}":           1, // failed
		"queue_duration_seconds{and,async,}":          0,
		"run_duration_seconds{and,sync,gpu}":          2,
		"run_duration_seconds{and,sync,}":             0,
		"batch_jobs{and,sync,gpu}":                    2,
		"batch_jobs{and,sync,}":                       0,
		"prediction_error_ratio{and,sync,gpu}":        2,
	})
	sums.expect(t, values{"prediction_error_ratio{and,sync,gpu}": 2 * 0.5, "batch_jobs{and,sync,gpu}": 64})
	if sum := sums["run_duration_seconds{and,sync,gpu}"]; math.Abs(sum-0.008) > 1e-12 {
		t.Errorf("run times add up to %v", sum)
	}
}

func TestWatch(t *testing.T) {
	m := New()
	asked := 0
	m.Watch(func() observe.Stats { asked++; return snapshot() })
	all, _ := gather(t, m)
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	all.expect(t, values{
		"scheduler_synchronous{}": 1, "scheduler_load_ratio{}": 0.8, "queue_capacity_jobs{}": 64,
		"queued_jobs{either}": 15, "queued_jobs{device}": 16, "queued_jobs{host}": 17,
		"jobs_total{answered}": 10, "jobs_total{failed}": 1, "jobs_total{refused}": 2, "jobs_total{expired}": 3,
		"stolen_jobs_total{}": 4,
		"processor_up{gpu}":   1, "processor_up{host}": 0, "processor_running_batches{gpu}": 2,
		"processor_batches_total{gpu}": 5, "processor_jobs_total{gpu}": 50, "processor_busy_seconds_total{gpu}": 1.5,
		"resident_bytes{gpu}": 60, "resident_bytes{host}": 70,
		"list_cache_capacity_bytes{gpu}": 100, "list_cache_used_bytes{gpu}": 61, "list_cache_lists{gpu}": 6,
		"list_cache_hits_total{gpu}": 3, "list_cache_misses_total{gpu}": 7, "list_cache_evictions_total{gpu}": 8,
		"list_cache_loaded_bytes_total{gpu}": 99,
		"result_cache_capacity_bytes{}":      1000, "result_cache_used_bytes{}": 500, "result_cache_answers{}": 9,
		"result_cache_hits_total{}": 11, "result_cache_misses_total{}": 12, "result_cache_evictions_total{}": 13,
		"result_cache_refused_total{}": 14,
	})
	if _, there := all["list_cache_hits_total{host}"]; there {
		t.Error("a processor without a cache has one")
	}
	m.Watch(nil)
	if all, _ := gather(t, m); len(all) != 0 {
		t.Errorf("without an engine: %v", all)
	}
}

func TestCollect(t *testing.T) {
	want := `
# HELP heddle_batch_jobs Jobs in the batch that answered a query, once per query.
# TYPE heddle_batch_jobs histogram
` + line(0, "1", "2", "4", "8", "16") + line(2, "32", "64", "128", "256", "512", "1024", "2048", "4096", "8192", "16384", "32768", "65536", "+Inf") +
		`heddle_batch_jobs_sum{kind="and",mode="sync",processor="gpu"} 64
heddle_batch_jobs_count{kind="and",mode="sync",processor="gpu"} 2
# HELP heddle_processor_busy_seconds_total Total run time of batches.
# TYPE heddle_processor_busy_seconds_total counter
heddle_processor_busy_seconds_total{processor="gpu"} 1.5
heddle_processor_busy_seconds_total{processor="host"} 0
# HELP heddle_queries_total Queries by outcome.
# TYPE heddle_queries_total counter
heddle_queries_total{class="device",kind="and",mode="sync",outcome="answered",processor="gpu"} 2
`
	if err := testutil.CollectAndCompare(full(), strings.NewReader(want), "heddle_batch_jobs", "heddle_processor_busy_seconds_total", "heddle_queries_total"); err != nil {
		t.Error(err)
	}
}

// line is the buckets of batches that hold n queries.
func line(n int, bounds ...string) (s string) {
	for _, b := range bounds {
		s += fmt.Sprintf("heddle_batch_jobs_bucket{kind=%q,mode=%q,processor=%q,le=%q} %d\n", "and", "sync", "gpu", b, n)
	}
	return s
}

// TestLint: every described metric has a value and follows the conventions of Prometheus.
func TestLint(t *testing.T) {
	m := full()
	problems, err := testutil.CollectAndLint(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	descs := make(chan *prometheus.Desc, 100)
	m.Describe(descs)
	if len(families) != len(descs) {
		t.Errorf("%d metrics of %d", len(families), len(descs))
	}
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "heddle_") {
			t.Errorf("%s does not begin with heddle_", f.GetName())
		}
	}
}

// TestInvalidLabel: a label that is not UTF-8 is replaced.
func TestInvalidLabel(t *testing.T) {
	m := New()
	q := answered()
	q.Processor = "gpu\xff"
	m.Answered(t.Context(), &q)
	m.Happened(observe.Event{Processor: "\xff", Err: plan.ErrDeviceLost})
	m.Watch(func() observe.Stats { return observe.Stats{Processors: []observe.Processor{{Name: "\xff"}}} })
	all, _ := gather(t, m)
	all.expect(t, values{"queries_total{device,and,sync,answered,gpu\uFFFD}": 1, "processors_removed_total{\uFFFD}": 1, "processor_up{\uFFFD}": 1})
}

// TestTwoEngines: the engines of a service differ in a label.
func TestTwoEngines(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	for _, index := range []string{"books", "papers"} {
		r := prometheus.WrapRegistererWith(prometheus.Labels{"index": index}, registry)
		if err := r.Register(full()); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := testutil.GatherAndCount(registry, "heddle_queries_total"); n != 2 || err != nil {
		t.Errorf("%d series, error %v", n, err)
	}
}

// TestConcurrent: no observation is lost.
func TestConcurrent(t *testing.T) {
	m := New()
	const callers, each = 8, 5000
	var wg sync.WaitGroup
	for g := range callers {
		wg.Go(func() {
			q := answered()
			for i := range each {
				q.Kind = fmt.Sprint("kind ", (g+i)%5)
				m.Answered(context.Background(), &q)
				if i%1000 == 0 {
					m.Happened(observe.Event{Processor: "gpu", Err: plan.ErrDeviceLost})
					testutil.CollectAndCount(m)
				}
			}
		})
	}
	wg.Wait()
	all, sums := gather(t, m)
	for k := range 5 {
		key := fmt.Sprintf("query_duration_seconds{kind %d,sync,answered}", k)
		all.expect(t, values{key: callers * each / 5, fmt.Sprintf("queries_total{device,kind %d,sync,answered,gpu}", k): callers * each / 5})
		if sum := sums[key]; math.Abs(sum-callers*each/5*0.005) > 1e-6 {
			t.Errorf("kind %d: times add up to %v", k, sum)
		}
	}
	all.expect(t, values{"processors_removed_total{gpu}": callers * each / 1000})
}

func TestAllocations(t *testing.T) {
	m := New()
	q := answered()
	if n := testing.AllocsPerRun(100, func() { m.Answered(context.Background(), &q) }); n != 0 {
		t.Errorf("an observation allocates %v times", n)
	}
}

func BenchmarkAnswered(b *testing.B) {
	m := New()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		q := answered()
		for pb.Next() {
			m.Answered(context.Background(), &q)
		}
	})
}
