package reference

import (
	"slices"

	"heddle/engine/plan"
)

// Hit is a document that matches a ranked query.
type Hit struct {
	Doc   uint32
	Score uint32 // sum of plan.Contribution over the lists that have the document
	Lists int    // number of lists of the query that have the document
}

// Rank returns all documents that match each query of r, best first: by
// descending score, ties by ascending docID. The answer is not cut to r.K
// documents.
func (l *Lists) Rank(r *plan.RankBatch) [][]Hit {
	answers := make([][]Hit, r.Queries())
	for i := range answers {
		answers[i] = l.rank(r, r.Query(i))
		if r.Mode == plan.And {
			answers[i] = InAllLists(answers[i], len(r.Query(i)))
		}
	}
	return answers
}

// rank adds up the contributions of all postings of all terms.
func (l *Lists) rank(r *plan.RankBatch, terms []plan.Term) []Hit {
	hits := map[uint32]Hit{}
	for _, t := range terms {
		for j, doc := range l.Docs[t.List] {
			length := uint32(0)
			if r.Norm.Impacts == 0 {
				length = l.Lengths[doc]
			}
			tf := r.Norm.TF(l.Freqs[t.List][j], length)
			h := hits[doc]
			hits[doc] = Hit{Doc: doc, Score: h.Score + plan.Contribution(t.Weight, tf), Lists: h.Lists + 1}
		}
	}
	keys := make([]uint64, 0, len(hits)) // integers sort fastest
	for doc, h := range hits {
		keys = append(keys, uint64(^h.Score)<<32|uint64(doc))
	}
	slices.Sort(keys)
	ranked := make([]Hit, len(keys))
	for i, k := range keys {
		ranked[i] = hits[uint32(k)]
	}
	return ranked
}

// InAllLists removes the hits that are in fewer than n lists: it turns the answer
// to a ranked OR into the answer to a ranked AND. It reuses the memory of hits.
func InAllLists(hits []Hit, n int) []Hit {
	return slices.DeleteFunc(hits, func(h Hit) bool { return h.Lists < n })
}
