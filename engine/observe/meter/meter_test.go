package meter

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"heddle/engine/internal/resultcache"
	"heddle/engine/observe"
	"heddle/engine/plan"
	"heddle/engine/schedule"
)

const ms = time.Millisecond

// answered is a query that ran in a batch.
func answered() observe.Query {
	return observe.Query{
		Kind: "and", Queries: 1, Took: 5 * ms,
		Trace: schedule.Trace{Mode: schedule.Sync, Class: schedule.Device, Processor: "gpu",
			Estimate: 6 * ms, Batch: 32, Queued: 1 * ms, Ran: 4 * ms, Attempts: 1},
	}
}

// expect compares values of counters and gauges, and counts of histograms.
func expect(t *testing.T, s Snapshot, name string, want float64, labels ...string) {
	t.Helper()
	x := s.Find(name, labels...)
	if x.Desc == nil {
		if want != 0 {
			t.Errorf("%s%q is not there, want %v", name, labels, want)
		}
		return
	}
	got := x.Value
	if x.Desc.Kind == KindHistogram {
		got = float64(x.Count())
	}
	if got != want {
		t.Errorf("%s%q is %v, want %v", name, labels, got, want)
	}
}

func TestMeter(t *testing.T) {
	memory := NewMemory()
	m := New(memory)
	ctx := t.Context()
	q := answered()
	m.Answered(ctx, &q)
	q.Queries, q.Trace.Attempts = 10, 3
	m.Answered(ctx, &q)
	m.Answered(ctx, &observe.Query{Kind: "and", Queries: 1, Cached: true, Took: ms})
	m.Answered(ctx, &observe.Query{Kind: "and", Err: &schedule.FullError{}})
	m.Answered(ctx, &observe.Query{Kind: "and", Err: &schedule.DeadlineError{}, Trace: schedule.Trace{Mode: schedule.Async}})
	failed := answered()
	failed.Err, failed.Trace.Processor, failed.Trace.Ran = errors.New("a fault"), "", 0
	m.Answered(ctx, &failed)
	m.Happened(schedule.Event{Mode: schedule.Sync})
	m.Happened(schedule.Event{Mode: schedule.Sync})
	m.Happened(schedule.Event{Processor: "gpu", Err: plan.ErrDeviceLost})

	s := memory.Snapshot()
	expect(t, s, "queries_total", 11, "and", "sync", "device", "gpu", "answered")
	expect(t, s, "queries_total", 1, "and", "auto", "either", "", "answered")
	expect(t, s, "queries_total", 1, "and", "auto", "either", "", "refused")
	expect(t, s, "queries_total", 1, "and", "async", "either", "", "expired")
	expect(t, s, "queries_total", 1, "and", "sync", "device", "", "failed")
	expect(t, s, "cached_queries_total", 1, "and")
	expect(t, s, "retries_total", 2, "gpu")
	expect(t, s, "mode_changes_total", 2, "sync")
	expect(t, s, "mode_changes_total", 0, "auto")
	expect(t, s, "processors_out_total", 1, "gpu")
	expect(t, s, "processors_out_total", 0, "")
	expect(t, s, "query_duration_seconds", 2, "and", "sync", "answered")
	expect(t, s, "query_duration_seconds", 1, "and", "auto", "answered") // cached
	expect(t, s, "queue_duration_seconds", 2, "and", "sync", "gpu")
	expect(t, s, "queue_duration_seconds", 1, "and", "sync", "") // failed
	expect(t, s, "queue_duration_seconds", 0, "and", "async", "")
	expect(t, s, "run_duration_seconds", 2, "and", "sync", "gpu")
	expect(t, s, "run_duration_seconds", 0, "and", "sync", "")
	expect(t, s, "batch_jobs", 2, "and", "sync", "gpu")
	expect(t, s, "batch_jobs", 0, "and", "sync", "")
	expect(t, s, "prediction_error_ratio", 2, "and", "sync", "gpu")
	if e := s.Find("prediction_error_ratio", "and", "sync", "gpu"); e.Value != 2*0.5 {
		t.Errorf("prediction errors add up to %v", e.Value)
	}
	if e := s.Find("run_duration_seconds", "and", "sync", "gpu"); math.Abs(e.Value-0.008) > 1e-12 {
		t.Errorf("run times add up to %v", e.Value)
	}
}

// A value that is a bound is of the bucket below it, as in Prometheus.
func TestBuckets(t *testing.T) {
	m := NewMemory()
	d := histogram("h", "", []float64{1, 2, 4})
	h := m.Histogram(d)
	for _, v := range []float64{0, 1, 1.5, 2, 3, 4, 4.1, 1000} {
		h.Observe(v)
	}
	s := m.Snapshot().Find("h")
	if got, want := fmt.Sprint(s.Buckets), "[2 2 2 2]"; got != want {
		t.Errorf("buckets %s, want %s", got, want)
	}
	if s.Count() != 8 || s.Value != 1015.6 {
		t.Errorf("%d values, sum %v", s.Count(), s.Value)
	}
}

func TestDescs(t *testing.T) {
	seen := make(map[string]bool)
	for _, d := range Descs() {
		if seen[d.Name] || d.Help == "" {
			t.Errorf("%s: another one has this name, or it has no help", d.Name)
		}
		seen[d.Name] = true
		if (d.Kind == KindHistogram) != (len(d.Bounds) > 0) {
			t.Errorf("%s: kind %d with %d bounds", d.Name, d.Kind, len(d.Bounds))
		}
	}
}

func TestState(t *testing.T) {
	m := NewMemory()
	var asked int
	m.Register(func() State {
		asked++
		return State{
			Schedule: schedule.Stats{Mode: schedule.Sync, Load: 0.8, Queued: [3]int{1, 2, 3}, Capacity: 64,
				Answered: 10, Failed: 1, Refused: 2, Expired: 3, Stolen: 4,
				Processors: []schedule.ProcessorStats{
					{Name: "gpu", Running: 2, Batches: 5, Jobs: 50, Busy: 1500 * ms},
					{Name: "host", Out: schedule.ErrHung},
				}},
			Results:  resultcache.Stats{Capacity: 1000, Bytes: 500, Entries: 5, Hits: 7, Misses: 8, Evicted: 9, Refused: 1},
			Lists:    map[string]plan.CacheStats{"gpu": {Capacity: 100, Used: 60, Lists: 6, Hits: 3, Misses: 2, Evicted: 1, BytesIn: 99}},
			Resident: map[string]uint64{"gpu": 60, "host": 70},
		}
	})
	s := m.Snapshot()
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	for _, c := range []struct {
		name  string
		want  float64
		label string
	}{
		{"scheduler_synchronous", 1, ""}, {"scheduler_load_ratio", 0.8, ""},
		{"queued_jobs", 1, "either"}, {"queued_jobs", 2, "device"}, {"queued_jobs", 3, "host"},
		{"queue_capacity_jobs", 64, ""},
		{"jobs_total", 10, "answered"}, {"jobs_total", 1, "failed"}, {"jobs_total", 2, "refused"}, {"jobs_total", 3, "expired"},
		{"stolen_jobs_total", 4, ""},
		{"processor_up", 1, "gpu"}, {"processor_up", 0, "host"}, {"processor_running_batches", 2, "gpu"},
		{"processor_batches_total", 5, "gpu"}, {"processor_jobs_total", 50, "gpu"}, {"processor_busy_seconds_total", 1.5, "gpu"},
		{"resident_bytes", 60, "gpu"}, {"resident_bytes", 70, "host"},
		{"list_cache_capacity_bytes", 100, "gpu"}, {"list_cache_used_bytes", 60, "gpu"}, {"list_cache_lists", 6, "gpu"},
		{"list_cache_hits_total", 3, "gpu"}, {"list_cache_misses_total", 2, "gpu"}, {"list_cache_evictions_total", 1, "gpu"},
		{"list_cache_loaded_bytes_total", 99, "gpu"},
		{"result_cache_capacity_bytes", 1000, ""}, {"result_cache_used_bytes", 500, ""}, {"result_cache_answers", 5, ""},
		{"result_cache_hits_total", 7, ""}, {"result_cache_misses_total", 8, ""}, {"result_cache_evictions_total", 9, ""},
		{"result_cache_refused_total", 1, ""},
	} {
		if c.label == "" {
			expect(t, s, c.name, c.want)
		} else {
			expect(t, s, c.name, c.want, c.label)
		}
	}
	for i := 1; i < len(s); i++ {
		if s[i-1].Desc.Name > s[i].Desc.Name {
			t.Errorf("%s comes before %s", s[i-1].Desc.Name, s[i].Desc.Name)
		}
	}
	m.Register(nil)
	if n := len(m.Snapshot()); n != 0 {
		t.Errorf("%d series of an engine that is gone", n)
	}
}

// Nothing is lost, whoever counts.
func TestConcurrent(t *testing.T) {
	memory := NewMemory()
	m := New(memory)
	const callers, each = 8, 5000
	var wg sync.WaitGroup
	for g := range callers {
		wg.Go(func() {
			q := answered()
			for i := range each {
				q.Kind = fmt.Sprint("kind ", (g+i)%5)
				m.Answered(context.Background(), &q)
				if i%1000 == 0 {
					m.Happened(schedule.Event{Processor: "gpu"})
					memory.Snapshot()
				}
			}
		})
	}
	wg.Wait()
	s := memory.Snapshot()
	for k := range 5 {
		kind := fmt.Sprint("kind ", k)
		expect(t, s, "queries_total", callers*each/5, kind, "sync", "device", "gpu", "answered")
		expect(t, s, "query_duration_seconds", callers*each/5, kind, "sync", "answered")
		if sum := s.Find("query_duration_seconds", kind, "sync", "answered").Value; math.Abs(sum-callers*each/5*0.005) > 1e-6 {
			t.Errorf("%s: times add up to %v", kind, sum)
		}
	}
	expect(t, s, "processors_out_total", callers*each/1000, "gpu")
}

func TestAllocations(t *testing.T) {
	m := New(NewMemory())
	q := answered()
	if n := testing.AllocsPerRun(100, func() { m.Answered(context.Background(), &q) }); n != 0 {
		t.Errorf("an observation allocates %v times", n)
	}
}

func BenchmarkAnswered(b *testing.B) {
	m := New(NewMemory())
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		q := answered()
		for pb.Next() {
			m.Answered(context.Background(), &q)
		}
	})
}

func BenchmarkObserve(b *testing.B) {
	h := NewMemory().Histogram(took, "and", "sync", "answered")
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			h.Observe(0.005)
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	c := NewMemory().Counter(cached, "and")
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c.Add(1)
		}
	})
}
