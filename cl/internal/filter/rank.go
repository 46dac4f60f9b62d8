package filter

import (
	"cmp"
	"context"
	"slices"
	"time"

	"heddle/engine/plan"
)

// RankFunc runs batches of ranked queries.
type RankFunc func(ctx context.Context, r *plan.RankBatch, out *plan.TopK) error

// Rank answers r, over lists of src, with rank, which knows no filters.
func Rank(ctx context.Context, src *plan.Source, r *plan.RankBatch, out *plan.TopK, rank RankFunc) error {
	sets, err := all(r.Filters, src.Docs)
	if err != nil {
		return err
	}
	if sets == nil {
		return rank(ctx, r, out)
	}
	if err := r.Validate(src); err != nil {
		return err
	}
	began := time.Now()
	x := &ranking{ctx: ctx, src: src, batch: r, sets: sets, answers: make([][]hit, r.Queries())}
	if err := x.run(rank); err != nil {
		return err
	}
	out.Reset()
	for _, hits := range x.answers {
		for _, h := range hits {
			out.Docs, out.Scores = append(out.Docs, h.doc), append(out.Scores, h.score)
		}
		out.Offsets = append(out.Offsets, uint64(len(out.Docs)))
	}
	out.Stats = x.stats
	out.Stats.Queries, out.Stats.Postings, out.Stats.Matches = uint64(r.Queries()), r.Postings(src), uint64(len(out.Docs))
	out.Stats.CountFilters(r.Filters)
	out.Stats.Wall = max(time.Since(began), 1)
	return nil
}

// hit is a document with its score.
type hit struct{ doc, score uint32 }

// ranking is one call of Rank.
type ranking struct {
	ctx     context.Context
	src     *plan.Source
	batch   *plan.RankBatch
	sets    []*Set
	answers [][]hit
	stats   plan.Stats
}

// more is the factor by which a query asks for more documents if too few of them pass.
const more = 8

// run ranks queries on the device for more documents until enough of them pass. Queries that need
// more documents than a device gives are completed on the host.
func (x *ranking) run(rank RankFunc) error {
	pending := map[int][]int{} // queries by the number of documents to ask for
	for i, s := range x.sets {
		if k := x.first(s); k > 0 {
			pending[k] = append(pending[k], i)
		} else if err := x.complete(i); err != nil {
			return err
		}
	}
	for len(pending) > 0 {
		k := plan.MaxK
		for n := range pending {
			k = min(k, n)
		}
		some := pending[k]
		delete(pending, k)
		left, err := x.ask(rank, k, some)
		if err != nil {
			return err
		}
		next := min(more*k, plan.MaxK)
		for _, i := range left {
			if k < plan.MaxK {
				pending[next] = append(pending[next], i)
			} else if err := x.complete(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// first returns the number of documents to ask for at first, a power of two times K; 0 if a device
// does not give so many.
func (x *ranking) first(s *Set) int {
	k := x.batch.K
	if s == nil {
		return k
	}
	if s.count == 0 {
		return 0
	}
	want := 5 * uint64(k) * uint64(s.universe) / (4 * uint64(s.count))
	for uint64(k) < want {
		if k *= 2; k > plan.MaxK {
			return 0
		}
	}
	return k
}

// ask ranks some queries for k documents and keeps the documents that pass. It returns the queries
// that need more.
func (x *ranking) ask(rank RankFunc, k int, some []int) (left []int, err error) {
	whole := *x.batch
	whole.K, whole.Filters, whole.Terms, whole.Offsets = k, nil, nil, []uint32{0}
	for _, i := range some {
		whole.AddOrdered(x.batch.Query(i))
	}
	var best plan.TopK
	if err := rank(x.ctx, &whole, &best); err != nil {
		return nil, err
	}
	x.stats.Add(best.Stats)
	for n, i := range some {
		docs, scores := best.Query(n)
		var hits []hit
		for j, d := range docs {
			if x.sets[i].has(d) && len(hits) < x.batch.K {
				hits = append(hits, hit{d, scores[j]})
			}
		}
		if len(hits) < x.batch.K && len(docs) == k {
			left = append(left, i)
		} else {
			x.answers[i] = hits
		}
	}
	return left, nil
}

// complete ranks the documents of the filter of query i on the host.
func (x *ranking) complete(i int) error {
	x.stats.Sought++
	terms := x.batch.Query(i)
	docs := x.sets[i].docs()
	sums, lists := make([]uint32, len(docs)), make([]int, len(docs))
	var list, freqs []uint32
	for _, t := range terms {
		if err := x.ctx.Err(); err != nil {
			return err
		}
		var err error
		if list, err = x.src.List(t.List).AppendTo(list[:0]); err != nil {
			return err
		}
		packed, err := x.src.Freq(t.List)
		if err != nil {
			return err
		}
		if freqs, err = packed.AppendTo(freqs[:0]); err != nil {
			return err
		}
		at := 0
		for j, d := range list {
			for at < len(docs) && docs[at] < d {
				at++
			}
			if at == len(docs) {
				break
			}
			if docs[at] != d {
				continue
			}
			length := uint32(0)
			if x.batch.Norm.Impacts == 0 {
				length = x.src.Lengths[d]
			}
			sums[at] += plan.Contribution(t.Weight, x.batch.Norm.TF(freqs[j]+1, length))
			lists[at]++
		}
	}
	var hits []hit
	for j, d := range docs {
		if lists[j] == len(terms) && len(terms) > 0 || lists[j] > 0 && x.batch.Mode == plan.Or {
			hits = append(hits, hit{d, sums[j]})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.doc, b.doc)) })
	x.answers[i] = hits[:min(len(hits), x.batch.K)]
	return nil
}
