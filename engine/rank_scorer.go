package engine

import (
	"fmt"
	"maps"
	"math"

	"heddle/engine/index/bm25"
	"heddle/engine/plan"
)

// Statistics are what BM25 knows of a collection. Those of shards add up to those
// of the whole, and a shard that ranks with the sum gives every document the score
// that the whole would give it, bit for bit. The best of the whole are then among
// the best of the shards, under Or and And; AndOr chooses in each shard anew.
type Statistics struct {
	Docs   uint64 // documents
	Length uint64 // sum of their lengths, in tokens
	// DF says how many documents have a term. Every term of a query must be in it
	// that the index or another shard has.
	DF map[string]uint64
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

// Statistics are the index's own, with the frequencies of some terms; 0 for those
// that no document has. After Close they are empty.
func (x *Index) Statistics(terms ...string) Statistics {
	if x.closed.Load() {
		return Statistics{}
	}
	s := Statistics{Docs: uint64(x.src.Docs), Length: x.tokens(), DF: make(map[string]uint64, len(terms))}
	for _, t := range terms {
		s.DF[t] = 0
		if h, ok := x.dict.Lookup(t); ok {
			s.DF[t] = uint64(x.src.Lists[h].Len)
		}
	}
	return s
}

func (x *Index) countTokens() (n uint64) {
	for _, l := range x.src.Lengths {
		n += uint64(l)
	}
	return n
}

// scorer is the checked form of RankOptions.
type scorer struct {
	opt    RankOptions
	params bm25.Params
	norm   plan.Norm
	docs   uint64
	df     map[string]uint64 // nil for the lengths of lists
}

func (x *Index) scorer(opt RankOptions) (scorer, error) {
	s := scorer{opt: opt, params: bm25.Default()}
	switch {
	case x.src.Freqs == nil && len(x.src.Lists) > 0:
		return s, fmt.Errorf("ranking: %w", plan.ErrNotRanked)
	case opt.K < 1 || opt.K > plan.MaxK:
		return s, fmt.Errorf("ranking: k = %d is not from 1 to %d", opt.K, plan.MaxK)
	case opt.Mode > AndOr:
		return s, fmt.Errorf("ranking: unknown %s", opt.Mode)
	case x.src.Impacts > 0:
		if opt.Scoring != nil || opt.Statistics != nil {
			return s, fmt.Errorf("%w of %d bits: scoring and statistics were fixed when it was built", ErrImpacts, x.src.Impacts)
		}
		s.norm = plan.Norm{Impacts: x.src.Impacts}
		return s, nil
	}
	if opt.Scoring != nil {
		s.params = *opt.Scoring
	}
	if err := s.params.Validate(); err != nil {
		return s, err
	}
	own := Statistics{Docs: uint64(x.src.Docs), Length: x.tokens()}
	st := opt.Statistics
	if st == nil {
		st = &own
	} else if s.df = st.DF; s.df == nil {
		s.df = map[string]uint64{}
	}
	average := 1.0 // where all lengths are 0, any will do
	if st.Length > 0 && st.Docs > 0 {
		average = float64(st.Length) / float64(st.Docs)
	} else if own.Length > 0 {
		return s, fmt.Errorf("ranking: statistics of %d documents with %d tokens", st.Docs, st.Length)
	}
	s.docs, s.norm = st.Docs, s.params.Norm(average)
	return s, nil
}

// weight is what a posting of t can contribute at most: its weight in the query
// times that in the collection, where length is that of its list. It gives false
// for a term that no document of the collection has.
func (s *scorer) weight(t *asked, length uint32) (float64, bool, error) {
	w, df := t.weight, uint64(length)
	if s.norm.Impacts == 0 {
		if s.df != nil {
			df = s.df[t.term]
			if df > s.docs || df == 0 && length > 0 {
				return 0, false, fmt.Errorf("ranking: statistics have term %q in %d of %d documents", t.term, df, s.docs)
			}
		}
		if df > 0 {
			w *= s.params.Weight(s.docs, df)
		}
	}
	if math.IsInf(w, 1) {
		return 0, false, fmt.Errorf("ranking: weight %v of term %q is too great", t.weight, t.term)
	}
	return w, df > 0, nil
}
