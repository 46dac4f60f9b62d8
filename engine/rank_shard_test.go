package engine

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"heddle/engine/index/bm25"
	"heddle/engine/plan/testneeds"
)

// TestRankShards: shards that rank with the statistics of the whole give its
// ranking, bit for bit, when theirs are merged. Some terms are in one shard only.
func TestRankShards(t *testing.T) {
	testneeds.Long(t)
	c := rankedCorpus(600)
	cuts := []int{0, 40, 350, 600}
	whole := c.open(t, 0, backendOptions(t))
	var shards []*served
	for i := range len(cuts) - 1 {
		shards = append(shards, c[cuts[i]:cuts[i+1]].open(t, 0, backendOptions(t)))
	}
	alone := 0 // terms that a shard lacks
	for i := range rankedTerms {
		for _, x := range shards {
			if x.Statistics(fmt.Sprintf("t%d", i)).DF[fmt.Sprintf("t%d", i)] == 0 {
				alone++
			}
		}
	}
	other := 0 // rankings that a shard's own statistics would change
	for n, q := range rankedQueries(pick(120, 40)) {
		terms, _ := weighted(t, whole, q)
		var all Statistics
		for _, x := range shards {
			all.Add(x.Statistics(terms...))
		}
		scoring := bm25.Params{Variant: bm25.Variants()[n%4], K1: 0.9, B: 0.4}
		for _, mode := range []Match{Or, And} {
			opt := rankOptions{Mode: mode, K: 20, Scoring: &scoring}
			want := mustRank(t, whole, q, opt)
			opt.Statistics = &all
			merged, own := ranking{}, 0
			for i, x := range shards {
				part := mustRank(t, x, q, opt)
				merged.Scores = append(merged.Scores, part.Scores...)
				for _, d := range part.Docs {
					merged.Docs = append(merged.Docs, d+uint32(cuts[i]))
				}
				alone := opt
				alone.Statistics = nil
				if r := mustRank(t, x, q, alone); !slices.Equal(r.Scores, part.Scores) {
					own++
				}
			}
			other += own
			sameRanking(t, best(merged, opt.K), want)
		}
	}
	if alone == 0 || other == 0 {
		t.Errorf("shards lack %d terms; %d rankings differ by statistics", alone, other)
	}
}

// best orders the documents and keeps k.
func best(r ranking, k int) ranking {
	order := make([]int, len(r.Docs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(r.Scores[j], r.Scores[i]), cmp.Compare(r.Docs[i], r.Docs[j]))
	})
	var out ranking
	for _, i := range order[:min(k, len(order))] {
		out.Docs, out.Scores = append(out.Docs, r.Docs[i]), append(out.Scores, r.Scores[i])
	}
	return out
}
