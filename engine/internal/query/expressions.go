package query

import (
	"cmp"
	"context"
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
	best    plan.TopK      // of all expressions

	part          []int // expressions without phrases
	resident, one plan.MatchBatch
	bits          [][]uint64
	ranks         plan.RankBatch
	top           plan.TopK

	docs, freqs, sums []uint32
	keys              []uint64 // a score in the upper half, the complement of a document in the lower one
}

// answer is the answer of an expression.
type answer struct {
	of         int    // query of the batch
	count      uint64 // number of documents
	start, end int    // its ranking in best
}

// query returns the ranking of expression i.
func (f *expressions) query(i int) (docs, sums []uint32) {
	a := &f.answers[i]
	return f.best.Docs[a.start:a.end:a.end], f.best.Scores[a.start:a.end:a.end]
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

// score sets the sums of docs, which are ascending.
func (f *expressions) score(ctx context.Context, src *plan.Source, docs []uint32, terms []plan.Term, norm plan.Norm, own *phrased) error {
	if own != nil && own.groups != nil {
		return f.scoreGroups(ctx, src, docs, norm, own)
	}
	f.sums = slices.Grow(f.sums[:0], len(docs))[:len(docs)]
	clear(f.sums)
	for _, t := range terms {
		if err := f.add(ctx, src, docs, f.sums, t, norm, own, false); err != nil {
			return err
		}
	}
	if own == nil {
		return nil
	}
	return own.score(ctx, src, docs, f.sums, norm)
}

// add adds the contributions of a term to the sums of docs, or makes each sum at least the contribution. The list of a phrase is
// phrased.base and its number.
func (f *expressions) add(ctx context.Context, src *plan.Source, docs, sums []uint32, t plan.Term, norm plan.Norm, own *phrased, best bool) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if own != nil && t.List >= own.base {
		own.add(src, docs, sums, weightedPhrase{int(t.List - own.base), t.Weight}, norm)
		return nil
	}
	if f.docs, err = src.List(t.List).AppendTo(f.docs[:0]); err != nil {
		return err
	}
	freqs, err := src.Freq(t.List)
	if err != nil {
		return err
	}
	if f.freqs, err = freqs.AppendTo(f.freqs[:0]); err != nil {
		return err
	}
	norm, lengths := own.lengthRule(src, t.List, norm)
	i := 0
	for j, doc := range f.docs {
		for i < len(docs) && docs[i] < doc {
			i++
		}
		if i == len(docs) {
			break
		}
		if docs[i] != doc {
			continue
		}
		length := uint32(0)
		if norm.Impacts == 0 {
			length = lengths[doc]
		}
		if part := plan.Contribution(t.Weight, norm.TF(f.freqs[j]+1, length)); best {
			sums[i] = max(sums[i], part)
		} else {
			sums[i] += part
		}
	}
	return nil
}

// Scores returns the scores of documents that match the only query, which is ranked. They ascend. Pure Go computes
// them.
func (b *Batch) Scores(ctx context.Context, docs []uint32) ([]float64, error) {
	terms := b.ranks.Query(0)
	if n := b.expressions.of[0]; n > 0 {
		terms = b.expressions.terms.Query(int(n) - 1)
	}
	if err := b.expressions.score(ctx, b.source, docs, terms, b.kind.Norm, b.ownedBy(0)); err != nil {
		return nil, err
	}
	return b.appendScores(nil, 0, b.expressions.sums), nil
}

// choose makes the k best of docs the answer of expression i: by descending sum, ties by ascending
// docID.
func (f *expressions) choose(i int, docs []uint32, k int) {
	f.keys = f.keys[:0]
	keep := func() {
		slices.Sort(f.keys)
		f.keys = append(f.keys[:0], f.keys[max(len(f.keys)-k, 0):]...)
	}
	least := uint64(0)
	for i, doc := range docs {
		key := uint64(f.sums[i])<<32 | uint64(^doc)
		if key < least {
			continue
		}
		if f.keys = append(f.keys, key); len(f.keys) == 2*k {
			keep()
			least = f.keys[0]
		}
	}
	keep()
	a := &f.answers[i]
	a.count, a.start = uint64(len(docs)), len(f.best.Docs)
	for _, key := range slices.Backward(f.keys) {
		f.best.Docs, f.best.Scores = append(f.best.Docs, ^uint32(key)), append(f.best.Scores, uint32(key>>32))
	}
	a.end = len(f.best.Docs)
}
