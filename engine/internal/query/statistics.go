package query

import (
	"iter"
	"maps"
	"slices"
	"strings"
)

// Statistics are the numbers that BM25 needs of a collection. See engine.Statistics.
type Statistics struct {
	Docs   uint64 // with at least one term
	Length uint64
	DF     map[string]uint64
	Shard  bool
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

// Statistics returns the statistics of x, with the document frequencies of terms; 0 for a
// term that no document has.
func (x *Index) Statistics(terms ...string) Statistics {
	s := Statistics{Docs: x.docs(), Length: x.tokens(), DF: make(map[string]uint64, len(terms))}
	for _, t := range terms {
		s.DF[t] = 0
		if h, ok := x.Dictionary.Lookup(t); ok {
			s.DF[t] = uint64(x.Source.Lists[h].Len)
		}
	}
	return s
}

func (x *Index) countTokens() (n uint64) {
	if x.Source.Length > 0 {
		return x.Source.Length
	}
	for _, l := range x.Source.Lengths {
		n += uint64(l)
	}
	return n
}

// prefix yields the terms that begin with prefix, in ascending order.
func (s *Statistics) prefix(prefix string) iter.Seq[string] {
	var terms []string
	for t, df := range s.DF {
		if df > 0 && strings.HasPrefix(t, prefix) {
			terms = append(terms, t)
		}
	}
	slices.Sort(terms)
	return slices.Values(terms)
}
