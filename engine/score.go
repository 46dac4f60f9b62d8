package engine

import (
	"context"
	"fmt"

	"heddle/engine/failure"
	"heddle/engine/file/mapped"
	"heddle/engine/index/bm25"
	"heddle/engine/internal/filter"
	"heddle/engine/internal/query"
)

// ScoreExplanation is the score of a document in its parts.
type ScoreExplanation struct {
	Score float64 // as in Hits.Scores: the sum of the parts
	// Docs and MeanLength are the statistics behind the weights: documents with at least one term, and their mean length
	// in tokens.
	Docs       uint64
	MeanLength float64
	Scoring    *bm25.Params // nil: the index has impacts, which were computed when it was built
	// Parts are the terms and phrases of the query that add to scores, the greatest part first. A part of a term that the
	// document lacks is 0; those of a prefix or tolerant word that the segment or shard lacks are left out.
	Parts []ScorePart
}

// ScorePart is what a term or a phrase adds to a score: Weight times TF, rounded up to a unit of the score. With Query.Tie a part
// in another field than the best one adds Tie times that, and with Expansion.Best terms other than the best one add 0.
type ScorePart struct {
	Term      string  // of a field: its name, a colon and the word; a phrase is in the query language
	Boost     float64 // weight in the query
	Documents uint64  // documents that have it; of a phrase in a collection, documents of the segment
	Weight    float64 // the most that it can add: Boost times its weight in the collection
	// Frequency is the number of its places in the document, or the impact. Places of a phrase with gaps count less than 1.
	Frequency float64
	// Length of the document and mean length, in tokens. In an index with fields, of the field.
	Length     uint32
	MeanLength float64
	TF         float64 // term-frequency component: 0 to 1
	Score      float64
}

// ExplainScore returns the score that q gives to a document, in its parts. Pure Go computes it, and it equals the score of
// Search bit for bit. Members of q that choose an order, a page, other documents or parts of documents have no effect, and
// neither has Boost. Errors: code NotFound for a document that q does not match; otherwise as Search.
func (s *Snapshot) ExplainScore(ctx context.Context, q Query, doc uint32) (out *ScoreExplanation, err error) {
	defer failure.Catch("explain score", &err)
	defer mapped.Catch(mapped.Watch(), &err)
	g, err := s.lists("explain score")
	if err != nil {
		return nil, err
	}
	q = q.scored()
	one := query.Get()
	q.internal(one)
	if doc >= g.Source.Docs || one.Wordless() {
		return nil, unmatched(uint64(doc))
	}
	call, err := q.call()
	if err != nil {
		return nil, err
	}
	var in filter.Compiler
	defer in.Release()
	w, err := in.Why(ctx, g, one, &filter.Filter{Docs: []uint32{doc}}, &call, doc)
	if err != nil {
		return nil, failure.Wrap("explain score", err)
	}
	if w == nil {
		return nil, unmatched(uint64(doc))
	}
	return ScoreOf(w), nil
}

// ScoreOf is the explanation that the packages of this module have.
func ScoreOf(w *scoreParts) *ScoreExplanation {
	out := &ScoreExplanation{Score: w.Score, Docs: w.Docs, MeanLength: w.MeanLength, Scoring: w.Scoring}
	for _, p := range w.Parts {
		out.Parts = append(out.Parts, ScorePart(p))
	}
	return out
}

func unmatched(doc uint64) error {
	return &Error{Code: NotFound, Op: "explain score", Err: fmt.Errorf("the query does not match document %d", doc)}
}

// scored is the part of q that scores depend on.
func (q Query) scored() Query {
	return Query{
		Text: q.Text, Literal: q.Literal, Terms: q.Terms, Weights: q.Weights, Expr: q.Expr, Expansion: q.Expansion, QueryFields: q.QueryFields, Tie: q.Tie,
		Match: q.Match, K: 1, Scoring: q.Scoring, Statistics: q.Statistics, Caller: q.Caller, Timeout: q.Timeout,
	}
}

// ExplainScore is Snapshot.ExplainScore on the segment of a document, with the statistics of the whole.
func (s *CollectionSnapshot) ExplainScore(ctx context.Context, q Query, id uint64) (*ScoreExplanation, error) {
	if err := s.check("explain score"); err != nil {
		return nil, err
	}
	own, err := ForParts([]Query{q.scored()})
	if err != nil {
		return nil, err
	}
	found, err := s.all.Score(ctx, s.Internal().Layout.Name, &own[0], id)
	if err != nil {
		return nil, failure.Wrap("explain score", err)
	}
	return ScoreOf(found.Why), nil
}
