package engine

import (
	"heddle/engine/internal/query"
	"heddle/engine/observe"
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

// Stats returns a snapshot of the engine. It takes some microseconds.
func (e *Engine) Stats() observe.Stats { return e.pool.Stats() }
