package engine

import (
	"time"

	"heddle/engine/internal/query"
	"heddle/engine/schedule"
)

// Statistics are the numbers that BM25 needs of a collection. The statistics of shards add up
// to the statistics of the whole, and a shard that ranks with the sum gives every document
// the score that the whole would give it, bit for bit. The best documents of the whole are
// then among the best of the shards, under Or and And; AndOr chooses in each shard anew.
type Statistics struct {
	Docs   uint64 // documents
	Length uint64 // sum of their lengths, in tokens
	// DF is the number of documents that have a term. It must hold every term of a query that
	// the index or another shard has.
	DF map[string]uint64
}

// Add adds the statistics of another part of the collection.
func (s *Statistics) Add(t Statistics) { (*query.Statistics)(s).Add(query.Statistics(t)) }

// Stats is a snapshot of an engine. Counters start with the engine.
type Stats struct {
	Mode     string         // of the scheduler: "async" or "sync"
	Load     float64        // estimated work arriving per second over work completed per second
	Queued   map[string]int // queries that wait, by the class of processors that they suit
	Capacity int            // queries that may wait
	// Queries and blocks of queries:
	Answered, Failed, Refused, Expired, Retried, Stolen uint64
	Changes                                             uint64 // of the mode
	Processors                                          []ProcessorStats
	Results                                             ResultStats
}

// ProcessorStats is a snapshot of a processor.
type ProcessorStats struct {
	Name    string
	Removed error // why the scheduler removed it; nil if it works
	Running int   // batches now
	Batches uint64
	Jobs    uint64        // queries and blocks of queries
	Busy    time.Duration // of all batches
}

// ResultStats is a snapshot of the result cache.
type ResultStats struct {
	Capacity, Bytes  uint64
	Entries          int
	Hits, Misses     uint64
	Evicted, Refused uint64 // entries; answers that were not kept
}

// Stats returns a snapshot. It takes some microseconds.
func (e *Engine) Stats() Stats {
	st, r := e.pool.Stats()
	s := Stats{
		Mode: st.Mode.String(), Load: st.Load, Queued: map[string]int{}, Capacity: st.Capacity,
		Answered: st.Answered, Failed: st.Failed, Refused: st.Refused, Expired: st.Expired, Retried: st.Retried, Stolen: st.Stolen, Changes: st.Changes,
		Results: ResultStats{Capacity: r.Capacity, Bytes: r.Bytes, Entries: r.Entries, Hits: r.Hits, Misses: r.Misses, Evicted: r.Evicted, Refused: r.Refused},
	}
	for class, n := range st.Queued {
		s.Queued[className(class)] = n
	}
	for _, p := range st.Processors {
		s.Processors = append(s.Processors, ProcessorStats{p.Name, p.Out, p.Running, p.Batches, p.Jobs, p.Busy})
	}
	return s
}

func className(class int) string { return schedule.Class(class).String() }
