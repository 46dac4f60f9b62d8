package reference

import (
	"math"
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

// rank walks all lists of the terms side by side, document by document, and adds up the contributions.
func (l *Lists) rank(r *plan.RankBatch, terms []plan.Term) []Hit {
	var hits []Hit
	at := make([]int, len(terms)) // the next posting of each term
	for {
		h := Hit{Doc: math.MaxUint32} // no document
		for i, t := range terms {
			if docs := l.Docs[t.List]; at[i] < len(docs) {
				h.Doc = min(h.Doc, docs[at[i]])
			}
		}
		if h.Doc == math.MaxUint32 {
			break
		}
		for i, t := range terms {
			if docs := l.Docs[t.List]; at[i] == len(docs) || docs[at[i]] != h.Doc {
				continue
			}
			length := uint32(0)
			if r.Norm.Impacts == 0 {
				length = l.Lengths[h.Doc]
			}
			h.Score += plan.Contribution(t.Weight, r.Norm.TF(l.Freqs[t.List][at[i]], length))
			h.Lists++
			at[i]++
		}
		hits = append(hits, h)
	}
	keys := make([]uint64, len(hits)) // integers sort fastest
	for i, h := range hits {
		keys[i] = uint64(^h.Score)<<32 | uint64(i)
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
