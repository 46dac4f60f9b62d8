package trec

import (
	"fmt"
	"maps"
	"slices"
)

// Fusion joins the rankings of several runs.
type Fusion string

const (
	// ReciprocalRank adds 1/(60 + rank) over the runs (Cormack, Clarke and Büttcher, SIGIR 2009).
	ReciprocalRank Fusion = "rrf"
	// CombSUM adds the scores of the runs (Fox and Shaw, TREC-2), mapped to 0 to 1 for each
	// query of a run: the least score of the query becomes 0 and the greatest 1 (Lee, SIGIR
	// 1997). A query whose scores are all equal gives each of its documents 1.
	CombSUM Fusion = "combsum"
)

// Fusions lists the names of all fusions.
func Fusions() []Fusion { return []Fusion{ReciprocalRank, CombSUM} }

// Fuse joins runs to one with the first k documents of each query of any run. ID becomes the
// name of the fusion.
func Fuse(runs []Run, how Fusion, k int) (Run, error) {
	gain, ok := map[Fusion]func(found []Retrieved, at int) float64{ReciprocalRank: reciprocalRank, CombSUM: normalised}[how]
	switch {
	case !ok:
		return Run{}, fmt.Errorf("unknown fusion %q (one of %v)", how, Fusions())
	case k < 1:
		return Run{}, fmt.Errorf("a fusion of the first %d documents; want 1 or more", k)
	}
	sums := map[string]map[string]float64{} // query, document
	for _, run := range runs {
		for query, found := range run.Queries {
			if sums[query] == nil {
				sums[query] = map[string]float64{}
			}
			for i, d := range found {
				sums[query][d.Doc] += gain(found, i)
			}
		}
	}
	fused := Run{ID: string(how), Queries: map[string][]Retrieved{}}
	for query, docs := range sums {
		list := make([]Retrieved, 0, len(docs))
		for _, doc := range slices.Sorted(maps.Keys(docs)) {
			list = append(list, Retrieved{doc, docs[doc]})
		}
		order(list)
		fused.Queries[query] = list[:min(k, len(list))]
	}
	return fused, nil
}

func reciprocalRank(_ []Retrieved, at int) float64 { return 1 / float64(60+at+1) }

func normalised(found []Retrieved, at int) float64 {
	greatest, least := found[0].Score, found[len(found)-1].Score
	if greatest == least {
		return 1
	}
	return (found[at].Score - least) / (greatest - least)
}
