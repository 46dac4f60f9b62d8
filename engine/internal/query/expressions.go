package query

import (
	"cmp"
	"slices"

	"heddle/engine/index/querylang"
	"heddle/engine/plan"
)

// expressions are the ranked queries of a batch that are expressions, neither an OR under Or
// nor an AND under And. The backend makes their documents (Batch.match) filters, and ranks the OR of
// their terms. Pure Go adds the scores of queries with phrases up.
type expressions struct {
	of      []int32        // by query of the batch: 1 + its number among the expressions, or 0
	terms   plan.RankBatch // by expression: the terms that add to scores
	answers []answer       // by expression
	best    plan.TopK      // of the expressions that the backend ranks

	owned, part   []int // expressions that pure Go answers, and the others
	resident, one plan.MatchBatch
	bits          [][]uint64
	ranks         plan.RankBatch
	top           plan.TopK
}

// answer is the answer of an expression.
type answer struct {
	of         int      // query of the batch
	count      uint64   // number of documents
	docs, sums []uint32 // its ranking
}

// take makes the documents of all from one on the ranking.
func (a *answer) take(all *plan.TopK, start int) {
	end := len(all.Docs)
	a.docs, a.sums = all.Docs[start:end:end], all.Scores[start:end:end]
}

func (f *expressions) reset() {
	f.of = f.of[:0]
	f.terms.Reset()
}

// addRankedExpr appends a ranked query that matches e, with the terms that add to scores.
func (b *Batch) addRankedExpr(x *Index, e set, terms []plan.Term) error {
	if b.phrased != nil {
		b.match.Add(x.Source)
		b.ranks.Add(x.Source)
		b.expressions.terms.Add(x.Source, terms...)
		b.expressions.of = append(b.expressions.of, int32(b.match.Queries()))
		return nil
	}
	if !e.not && (b.kind.Match == querylang.AnyTerm && anyOf(e.Expr, terms) || b.kind.Match == querylang.AllTerms && allOf(e.Expr, terms)) {
		b.ranks.Add(x.Source, terms...)
		b.expressions.of = append(b.expressions.of, 0)
		return nil
	}
	if err := b.match.AddExpr(x.Source, e.Expr); err != nil {
		return invalid{err}
	}
	b.ranks.Add(x.Source)
	if e.not {
		b.markComplement(x)
	}
	b.expressions.terms.Add(x.Source, terms...)
	b.expressions.of = append(b.expressions.of, int32(b.match.Queries()))
	return nil
}

// anyOf tells whether e, in canonical form, is the documents with any of the terms, whose
// lists are distinct and ascend. They may lack a list of e: all its documents are deleted.
func anyOf(e plan.Expr, terms []plan.Term) bool {
	if e.Op == plan.OpList {
		return len(terms) == 1 && e.List == terms[0].List
	}
	return e.Op == plan.OpOr && len(e.Args) == len(terms) &&
		!slices.ContainsFunc(e.Args, func(a plan.Expr) bool { return a.Op != plan.OpList || !has(terms, a.List) })
}

// allOf tells the same of the documents with all of the terms.
func allOf(e plan.Expr, terms []plan.Term) bool {
	lists, ok := e.Conjunction(nil)
	return ok && len(lists) == len(terms) && !slices.ContainsFunc(lists, func(h plan.Handle) bool { return !has(terms, h) })
}

func has(terms []plan.Term, list plan.Handle) bool {
	_, ok := slices.BinarySearchFunc(terms, list, func(t plan.Term, h plan.Handle) int { return cmp.Compare(t.List, h) })
	return ok
}

// adopt appends the query of a batch of one.
func (b *Batch) adoptExpr(one *Batch) {
	if one.expressions.of[0] == 0 {
		b.expressions.of = append(b.expressions.of, 0)
		return
	}
	b.match.Append(&one.match, 0)
	b.expressions.terms.AddOrdered(one.expressions.terms.Query(0))
	b.expressions.of = append(b.expressions.of, int32(b.match.Queries()))
}
