package bm25

import "maps"

// Statistics are the numbers that BM25 needs of a collection. The statistics of shards add up to the
// statistics of the whole, and a shard that ranks with the sum gives every document the score that the
// whole would give it, bit for bit.
type Statistics struct {
	Docs   uint64 // documents with at least one term, as docCount in Lucene
	Length uint64 // sum of their lengths, in tokens; divided by Docs the mean length
	// DF is the number of documents that have a term. It must hold every term of a query that
	// the index or another shard has.
	DF map[string]uint64
	// Shard says that the index is a shard of the collection. A prefix or tolerant word then stands for
	// terms of DF, and an index with impacts reads in DF which terms other shards
	// have. A term that DF lacks has no documents, even if the index has documents with it.
	// Default: false.
	Shard bool
}

// Add adds the statistics of another part of the collection.
func (s *Statistics) Add(t Statistics) {
	s.Docs += t.Docs
	s.Length += t.Length
	if s.DF == nil {
		s.DF = maps.Clone(t.DF)
		return
	}
	for term, df := range t.DF {
		s.DF[term] += df
	}
}
