package harness

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
	"heddle/engine/plan"
)

// Batching is the cost of consecutive batches.
type Batching struct {
	Responses []float64       // milliseconds per batch
	Rate      measure.Summary // queries per second
	Times     plan.Stats      // sum of all batches, with device times; zero on the host
}

// Method is a way to form batches. PART puts a fixed number of queries into a batch and
// gives each query to a work-group. PARA closes a batch at a threshold and gives each
// element to a work-item.
type Method struct {
	Backend   string
	Algorithm plan.Algorithm
	Part      bool
	Sorted    bool // the CPU first semi-sorts each batch by the length of the shortest list
	Queries   int
	Threshold uint64 // candidates per batch of PARA; if not 0, it replaces Queries
}

// batchRun is a method with an access.
type batchRun struct {
	Method
	access Access // Alone or Profiled
}

func (m Method) String() string {
	switch {
	case m.Sorted:
		return "PART, semi-sorted"
	case m.Part:
		return "PART"
	}
	return "PARA"
}

// BatchQueries is the number of queries from which the batches of Baidu's figures are
// cut.
func (s *LogBench) BatchQueries(who Contestant) int {
	return min(s.Opt.QueryCount(who.Info.Type), PaperQueries)
}

// Cut returns the ends of the batches of a method over the first n queries.
func (s *LogBench) Cut(m Method, n int) (ends []int) {
	loads := make([]uint64, n)
	var total uint64
	for i := range loads {
		loads[i] = uint64(s.shortest(i))
		total += loads[i]
	}
	threshold, load, first := cmp.Or(m.Threshold, total/uint64(n)*uint64(m.Queries)), uint64(0), 0
	for i := range loads {
		if load += loads[i]; m.Part && i+1-first == m.Queries || !m.Part && load >= threshold || i+1 == n {
			ends, first, load = append(ends, i+1), i+1, 0
		}
	}
	return ends
}

// shortest is the length of the shortest list of query i.
func (s *LogBench) shortest(i int) uint32 {
	n := uint32(math.MaxUint32)
	for _, h := range s.W.Queries[i%len(s.W.Queries)] {
		n = min(n, s.W.Source.Lists[h].Len)
	}
	return n
}

// Batches measures a method once: the batches of the first n queries, one after the
// other. Response times and statistics come from the last run, device times only from a
// profiled run.
func (s *LogBench) Batches(ctx context.Context, who Contestant, m Method, n int, a Access) (*Batching, error) {
	key := batchRun{m, a}
	if b := s.batched[key]; b != nil {
		return b, nil
	}
	x, err := s.Index(ctx, who, s.Opt.Threads, workload.DefaultEncoding(workload.LayoutRaw), a)
	if err != nil {
		return nil, err
	}
	ends, b := s.Cut(m, n), new(Batching)
	opt := MatchOptions{Algorithm: m.Algorithm, Part: m.Part, Candidates: math.MaxUint64}
	got := make([]uint64, n)
	var rates []float64
	runs := s.Opt.Runs
	if a == Profiled {
		runs = 1
	}
	for run := range 1 + runs { // the first run warms up and is checked
		b.Responses, b.Times = b.Responses[:0], plan.Stats{}
		all, first := time.Now(), 0
		for _, end := range ends {
			began := time.Now()
			var stats plan.Stats
			opt.Stats = &stats
			queries, place := s.Queries[first:end], func(i int) int { return i }
			if m.Sorted {
				var sorted semiSort
				sorted.order(queries, func(i int) uint32 { return s.shortest(first + i) })
				queries, place = sorted.queries, func(i int) int { return sorted.from[i] }
			}
			err := x.Match(ctx, queries, opt, func(from int, hits []Hits) error {
				for i := range hits {
					if run == 0 {
						got[first+place(from+i)] = workload.Digest(hits[i].Docs)
					}
				}
				return nil
			})
			b.Times.Add(stats)
			if err != nil {
				return nil, err
			}
			b.Responses = append(b.Responses, time.Since(began).Seconds()*1e3)
			first = end
		}
		b.Times.Wall = time.Since(all)
		if run > 0 {
			rates = append(rates, float64(n)/b.Times.Wall.Seconds())
		} else if err := s.Check.Check(fmt.Sprintf("%s, %s on %s", m, m.Algorithm, who), got); err != nil {
			return nil, err
		}
	}
	b.Rate = measure.Summarize(rates)
	s.batched[key] = b
	return b, nil
}

// KernelSeconds measures a method by the device's clock: the seconds of the kernels of all
// batches. It is 0 in pure Go.
func (s *LogBench) KernelSeconds(ctx context.Context, who Contestant, m Method, n int) (float64, error) {
	if who.Device == nil {
		return 0, nil
	}
	b, err := s.Batches(ctx, who, m, n, Profiled)
	if err != nil {
		return 0, err
	}
	return b.Times.Kernel().Seconds(), nil
}

// Response is the time of a batch in milliseconds, of parts of the batches.
func (b *Batching) Response() measure.Summary {
	return measure.Parts(b.Responses, measure.ResponseParts)
}

// PaperQueries is the size of Baidu's query set (Wu et al. 2010).
const PaperQueries = 33337

// Methods are PART, with and without a semi-sort, and PARA with a mean number of queries
// per batch.
func Methods(who Contestant, queries int) []Method {
	m := Method{Backend: who.Name, Algorithm: plan.BS, Queries: queries}
	part := m
	part.Part = true
	sorted := part
	sorted.Sorted = true
	return []Method{sorted, part, m}
}

// AboutBatches describes the batches of PART and PARA for reports.
const AboutBatches = "Clustered GOV-like lists and queries in place of Baidu's. Binary search on plain lists, one batch after the other. PART takes a fixed number of queries a batch, PARA as many as reach the same mean load. Semi-sorted, as in the paper: the CPU orders the queries of a batch by the power of two below the length of their shortest list; the time counts. Pure Go as PART gives a query to one thread."
