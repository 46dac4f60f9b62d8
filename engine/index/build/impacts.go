package build

import (
	"math"

	"heddle/engine/index/bm25"
	"heddle/engine/index/hdl"
	"heddle/engine/plan"
)

// quantiser turns the numbers of postings into impacts.
type quantiser struct {
	meta hdl.Impacts

	// Of contributions by BM25: the largest, which a term of one document has as its
	// weight, is meta.Max.
	scoring bm25.Params
	norm    plan.Norm
	lengths []uint32 // length of each document, in tokens
	docs    uint64   // number of documents with terms
	bound   float64  // weight of a term of one document

	// Of weights that vectors gave.
	weigher *weigher
	given   bool // the numbers of inverted lists are impacts already; the Writer checks them
}

// impacts is the description of impacts in the index file, after all inputs are read.
func (b *builder) impacts(opt *Options) hdl.Impacts {
	m := hdl.Impacts{Bits: opt.Impacts}
	switch {
	case m.Bits == 0:
	case b.kind != ofVectors && opt.Quantised:
		m.Origin, m.Scale = hdl.ImpactsWeights, 1
	case b.kind != ofVectors:
		m.Origin, m.Variant, m.K1, m.B = hdl.ImpactsBM25, opt.Scoring.Variant.String(), opt.Scoring.K1, opt.Scoring.B
		if b.docs > 0 {
			m.Scale = opt.Scoring.Weight(b.counted(), 1) / float64(m.Max())
		}
	default:
		m.Origin, m.Scale = hdl.ImpactsWeights, 1
		if w := &b.weigher; w.broken || w.largest > float32(m.Max()) {
			m.Scale = float64(w.largest) / float64(m.Max())
		}
	}
	return m
}

// counted is N of BM25: the documents with terms, or 1.
func (b *builder) counted() uint64 { return max(b.withTerms, 1) }

// newQuantiser is for documents of these lengths.
func (b *builder) newQuantiser(m hdl.Impacts, opt *Options) *quantiser {
	q := &quantiser{meta: m, weigher: &b.weigher, scoring: opt.Scoring, lengths: b.lengths, docs: b.counted(), given: b.kind != ofVectors}
	if m.Origin == hdl.ImpactsBM25 && len(b.lengths) > 0 {
		sum := uint64(0)
		for i, n := range b.lengths {
			sum += uint64(n)
			if opt.Lengths == hdl.LengthsLucene {
				b.lengths[i] = bm25.RoundLength(n)
			}
		}
		q.bound = opt.Scoring.Weight(q.docs, 1)
		q.norm = opt.Scoring.Norm(max(float64(sum), 1) / float64(q.docs))
	}
	return q
}

// list replaces the numbers of a list by its impacts, each at least 1.
func (q *quantiser) list(docs, freqs []uint32) {
	switch {
	case q.meta.Origin == hdl.ImpactsBM25:
		if len(docs) > 0 {
			q.contributions(docs, freqs)
		}
	case q.meta.Origin == hdl.ImpactsWeights && !q.given:
		for i, code := range freqs {
			// A scale of 1 gives whole numbers back as they are.
			freqs[i] = q.round(float64(q.weigher.decode(code)) / q.meta.Scale)
		}
	}
}

func (q *quantiser) round(x float64) uint32 {
	return uint32(min(max(math.Round(x), 1), float64(q.meta.Max())))
}

// contributions replaces frequencies by their contributions to the score.
func (q *quantiser) contributions(docs, freqs []uint32) {
	part := 0.0 // weight of the term as a fraction of bound, 0 to 1
	if q.bound > 0 {
		part = q.scoring.Weight(max(q.docs, uint64(len(docs))), uint64(len(docs))) / q.bound
	}
	unit := part * float64(q.meta.Max()) / (1 << 32)
	for i, d := range docs {
		freqs[i] = q.round(unit * float64(q.norm.TF(freqs[i], q.lengths[d])))
	}
}
