package query

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"heddle/engine/index/bm25"
	"heddle/engine/index/querylang"
	"heddle/engine/internal/cost"
	"heddle/engine/plan"
	"heddle/engine/syntax"
)

// Kind is the part of checked options that a batch has one value of. Queries of equal kinds
// may share a batch. It is comparable.
type Kind struct {
	K int // documents of a ranked query; 0: the query is not ranked

	// Of ranked queries:
	Unit         float64 // factor of scores
	Match        querylang.Match
	Norm         plan.Norm
	Total        uint64 // number up to which matching documents are counted for Batch.Total; 0: not counted
	Accumulators plan.Accumulators

	// Of other queries:
	Algorithm plan.Algorithm
	CountOnly bool
	Part      bool
}

// Ranked tells whether queries of the kind are ranked.
func (k *Kind) Ranked() bool { return k.K > 0 }

// Settings are checked options of queries on one index.
type Settings struct {
	Options Options
	Kind    Kind

	params bm25.Params
	whole  bm25.Statistics   // of the collection, without DF
	fields []plan.Norm       // by field; nil without fields
	df     map[string]uint64 // nil: the lengths of lists
}

// Settle checks opt for queries on x and sets s.
func (x *Index) Settle(s *Settings, opt *Options) error {
	*s = Settings{Options: *opt}
	if err := errors.Join(opt.Algorithm.Validate(), opt.Accumulators.Validate()); err != nil {
		return option{err}
	}
	if opt.K == 0 {
		return x.settleBoolean(s)
	}
	s.params = bm25.Default()
	s.Kind = Kind{K: opt.K, Total: opt.Total, Unit: 1, Match: opt.Match, Accumulators: cmp.Or(opt.Accumulators, x.Accumulators)}
	src := x.Source
	switch {
	case opt.CountOnly:
		return optionf("ranking: k = %d and only a count: k must be 0", opt.K)
	case opt.K < 1 || opt.K > plan.MaxK:
		return optionf("ranking: k = %d is not from 1 to %d", opt.K, plan.MaxK)
	case !(opt.Dismax.Tie >= 0 && opt.Dismax.Tie <= 1):
		return optionf("ranking: tie = %v is not from 0 to 1", opt.Dismax.Tie)
	case opt.Match > querylang.AllElseAny:
		return optionf("ranking: unknown %s", opt.Match)
	case src.Freqs == nil && len(src.Lists) > 0:
		return fmt.Errorf("ranking: %w", plan.ErrNotRanked)
	case src.Impacts > 0:
		if opt.Scoring != nil || opt.Statistics != nil && !opt.Statistics.Shard {
			return option{fmt.Errorf("%w of %d bits: scoring and statistics were fixed when it was built", ErrImpacts, src.Impacts)}
		}
		if opt.Statistics != nil {
			s.df = opt.Statistics.DF
		}
		s.Kind.Norm = plan.Norm{Impacts: src.Impacts}
		s.Kind.Unit = cmp.Or(x.Unit, 1)
		return nil
	}
	if opt.Scoring != nil {
		s.params = *opt.Scoring
	}
	if err := s.params.Validate(); err != nil {
		return option{err}
	}
	s.whole = bm25.Statistics{Docs: x.docs(), Length: x.tokens()}
	if st := opt.Statistics; st != nil {
		s.whole.Docs, s.whole.Length = st.Docs, st.Length
		if s.df = st.DF; s.df == nil {
			s.df = map[string]uint64{}
		}
	}
	norm, ok := s.norm(s.whole.Docs, s.whole.Length, x.tokens())
	if !ok {
		return optionf("ranking: statistics of %d documents with %d tokens", s.whole.Docs, s.whole.Length)
	}
	s.Kind.Norm = norm
	if x.hasFields() {
		return s.settleFields(x)
	}
	return nil
}

func (x *Index) settleBoolean(s *Settings) error {
	opt := &s.Options
	if opt.Match > querylang.AllElseAny {
		return optionf("unknown %s", opt.Match)
	}
	if opt.Match > querylang.AllTerms {
		return optionf("match %s is for ranked queries: k must be at least 1", opt.Match)
	}
	s.Kind = Kind{Algorithm: opt.Algorithm, CountOnly: opt.CountOnly, Part: opt.Part}
	s.Kind.Algorithm = x.Algorithm(opt.Algorithm)
	return nil
}

// Algorithm returns the algorithm of a conjunction that asks for a: the default of the index
// for plan.Auto.
func (x *Index) Algorithm(a plan.Algorithm) plan.Algorithm {
	if a == plan.Auto {
		return x.algorithm
	}
	return a
}

// Cost returns the kind of costs of queries with these settings. A query with an expression
// may differ: see Batch.Cost.
func (s *Settings) Cost() cost.Kind {
	if s.Kind.Ranked() {
		return s.Kind.rankCost()
	}
	switch {
	case s.Options.Match == querylang.AnyTerm:
		return cost.Boolean
	case s.Kind.CountOnly:
		return cost.Count
	}
	return cost.And
}

func (k *Kind) rankCost() cost.Kind {
	switch k.Match {
	case querylang.AllTerms:
		return cost.RankAnd
	case querylang.AllElseAny:
		return cost.RankAndOr
	}
	return cost.RankOr
}

// norm returns the norm for documents of a mean length. It returns false where there are none, although the index has
// tokens and is no shard.
func (s *Settings) norm(docs, length, own uint64) (plan.Norm, bool) {
	average := 1.0 // any value will do where all lengths are 0
	if st := s.Options.Statistics; length > 0 && docs > 0 {
		average = float64(length) / float64(docs)
	} else if own > 0 && (st == nil || !st.Shard) {
		return plan.Norm{}, false
	}
	return s.params.Norm(average), true
}

// weight is the most that a posting of t can contribute: its weight in the query times its
// weight in the collection, where length is the length of its list. It returns false for a
// term that no document of the collection has.
func (s *Settings) weight(x *Index, t *asked, length uint32) (float64, bool, error) {
	w, df := t.weight, uint64(length)
	if s.Kind.Norm.Impacts > 0 && s.df != nil {
		df = s.df[t.term]
	}
	if s.Kind.Norm.Impacts == 0 {
		docs := s.whole.DocsOf(t.term)
		if s.df != nil {
			df = s.df[t.term]
			if df == 0 && s.Options.Statistics.Shard {
				return 0, false, nil // all documents with the term are deleted
			}
			if df > docs || df == 0 && length > 0 {
				return 0, false, invalidf("ranking: statistics have term %s in %d of %d documents", syntax.Quote(t.term), df, docs)
			}
		}
		if t.df > 0 && df > 0 {
			df = t.df
		}
		if df > 0 { // lists of a source without WithTerms may have documents of length 0
			w *= s.params.Weight(max(docs, df), df)
		}
	}
	if math.IsInf(w, 1) {
		return 0, false, invalidf("ranking: weight %v of term %s is too great", t.weight, syntax.Quote(t.term))
	}
	return w, df > 0, nil
}
