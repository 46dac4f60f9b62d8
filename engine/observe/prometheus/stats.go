package prometheus

import (
	"github.com/prometheus/client_golang/prometheus"

	"heddle/engine/observe"
	"heddle/engine/plan"
)

// metric is one value of a snapshot T: of an engine, a processor or a cache.
type metric[T any] struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(*T) float64
}

func (m metric[T]) send(out chan<- prometheus.Metric, snapshot *T, labels ...string) {
	out <- prometheus.MustNewConstMetric(m.desc, m.kind, m.of(snapshot), labels...)
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(Namespace, "", name), help, labels, nil)
}

// number is the type of a snapshot's field.
type number interface{ ~int | ~uint64 | ~float64 }

func gauge[T any, N number](name, help string, of func(*T) N, labels ...string) metric[T] {
	return metric[T]{desc(name, help, labels...), prometheus.GaugeValue, func(s *T) float64 { return float64(of(s)) }}
}

func total[T any, N number](name, help string, of func(*T) N, labels ...string) metric[T] {
	return metric[T]{desc(name+"_total", help, labels...), prometheus.CounterValue, func(s *T) float64 { return float64(of(s)) }}
}

func truth(is bool) int {
	if is {
		return 1
	}
	return 0
}

var (
	ofEngine = []metric[observe.Stats]{
		gauge("scheduler_synchronous", "1 while queries run in batches, 0 while each runs alone.", func(s *observe.Stats) int { return truth(s.Mode == "sync") }),
		gauge("scheduler_load_ratio", "Estimated work that arrives, as a ratio of the capacity of all processors.", func(s *observe.Stats) float64 { return s.Load }),
		gauge("queue_capacity_jobs", "Maximum number of jobs in the queue.", func(s *observe.Stats) int { return s.Capacity }),
		total("stolen_jobs", "Jobs that ran on a processor of another class.", func(s *observe.Stats) uint64 { return s.Stolen }),

		gauge("result_cache_capacity_bytes", "Memory for answers.", func(s *observe.Stats) uint64 { return s.Results.Capacity }),
		gauge("result_cache_used_bytes", "Memory that answers take.", func(s *observe.Stats) uint64 { return s.Results.Bytes }),
		gauge("result_cache_answers", "Answers in the cache.", func(s *observe.Stats) int { return s.Results.Entries }),
		total("result_cache_hits", "Queries whose answer was in the cache.", func(s *observe.Stats) uint64 { return s.Results.Hits }),
		total("result_cache_misses", "Queries whose answer was not in the cache.", func(s *observe.Stats) uint64 { return s.Results.Misses }),
		total("result_cache_evictions", "Answers removed to make room.", func(s *observe.Stats) uint64 { return s.Results.Evicted }),
		gauge("filter_cache_capacity_bytes", "Memory for filters.", func(s *observe.Stats) uint64 { return s.Filters.Capacity }),
		gauge("filter_cache_used_bytes", "Memory that filters take on all processors.", func(s *observe.Stats) uint64 { return s.Filters.Bytes }),
		gauge("filter_cache_filters", "Filters in the cache.", func(s *observe.Stats) int { return s.Filters.Entries }),
		total("filter_cache_hits", "Queries whose filter was in the cache.", func(s *observe.Stats) uint64 { return s.Filters.Hits }),
		total("filter_cache_misses", "Queries whose filter was not in the cache.", func(s *observe.Stats) uint64 { return s.Filters.Misses }),
		total("filter_cache_evictions", "Filters removed to make room.", func(s *observe.Stats) uint64 { return s.Filters.Evicted }),
		total("result_cache_refused", "Answers that were too large for the cache.", func(s *observe.Stats) uint64 { return s.Results.Refused }),
	}
	waiting     = desc("queued_jobs", "Jobs in the queue, by preferred processors.", "class")
	jobs        = desc("jobs_total", "Jobs of the scheduler by outcome.", "outcome")
	ofProcessor = []metric[observe.Processor]{
		gauge("processor_up", "0 after the removal of a failed processor, otherwise 1.", func(p *observe.Processor) int { return truth(p.Removed == nil) }, "processor"),
		gauge("processor_running_batches", "Batches that run now.", func(p *observe.Processor) int { return p.Running }, "processor"),
		total("processor_batches", "Batches run.", func(p *observe.Processor) uint64 { return p.Batches }, "processor"),
		total("processor_jobs", "Jobs run.", func(p *observe.Processor) uint64 { return p.Jobs }, "processor"),
		total("processor_busy_seconds", "Total run time of batches.", func(p *observe.Processor) float64 { return p.Busy.Seconds() }, "processor"),
		gauge("resident_bytes", "Memory of lists, tables and scratch.", func(p *observe.Processor) uint64 { return p.Memory }, "processor"),
	}
	ofLists = []metric[plan.CacheStats]{
		gauge("list_cache_capacity_bytes", "Memory for lists.", func(c *plan.CacheStats) uint64 { return c.Capacity }, "processor"),
		gauge("list_cache_used_bytes", "Memory that lists take.", func(c *plan.CacheStats) uint64 { return c.Used }, "processor"),
		gauge("list_cache_lists", "Resident lists.", func(c *plan.CacheStats) int { return c.Lists }, "processor"),
		total("list_cache_hits", "Lists of queries that were resident.", func(c *plan.CacheStats) uint64 { return c.Hits }, "processor"),
		total("list_cache_misses", "Lists of queries that were not resident.", func(c *plan.CacheStats) uint64 { return c.Misses }, "processor"),
		total("list_cache_evictions", "Lists removed to make room.", func(c *plan.CacheStats) uint64 { return c.Evicted }, "processor"),
		total("list_cache_loaded_bytes", "Bytes of lists loaded.", func(c *plan.CacheStats) uint64 { return c.BytesIn }, "processor"),
	}
)

// describe sends the descriptions of all metrics of snapshots.
func describe(out chan<- *prometheus.Desc) {
	out <- waiting
	out <- jobs
	for _, m := range ofEngine {
		out <- m.desc
	}
	for _, m := range ofProcessor {
		out <- m.desc
	}
	for _, m := range ofLists {
		out <- m.desc
	}
}

// collect sends the values of s.
func collect(out chan<- prometheus.Metric, s observe.Stats) {
	for _, m := range ofEngine {
		m.send(out, &s)
	}
	for class, n := range map[string]int{"either": s.Waiting.Either, "device": s.Waiting.Device, "host": s.Waiting.Host} {
		out <- prometheus.MustNewConstMetric(waiting, prometheus.GaugeValue, float64(n), class)
	}
	for outcome, n := range map[string]uint64{"answered": s.Answered, "failed": s.Failed, "refused": s.Refused, "expired": s.Expired} {
		out <- prometheus.MustNewConstMetric(jobs, prometheus.CounterValue, float64(n), outcome)
	}
	for i := range s.Processors {
		p := &s.Processors[i]
		name := valid(p.Name)
		for _, m := range ofProcessor {
			m.send(out, p, name)
		}
		if p.Lists == nil {
			continue
		}
		for _, m := range ofLists {
			m.send(out, p.Lists, name)
		}
	}
}
