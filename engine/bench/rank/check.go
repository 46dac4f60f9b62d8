package rank

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"heddle/engine/bench/workload"
)

// plainSample is the number of queries that are also scored in floating point.
const plainSample = 8

// plainMargin is the number of documents of a plain ranking beyond k: documents whose
// scores differ by rounding may swap places.
const plainMargin = 1000

// scoreTolerance is the largest relative difference between integer and plain scores.
const scoreTolerance = 1e-6

// scored is a document and its score in floating point.
type scored struct {
	doc   uint32
	score float64
}

// byScore orders by descending score, then by ascending docID.
func byScore(a, b scored) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.doc, b.doc))
}

// plainRanking is the result of a sampled query over all documents in floating point:
// the best documents that contain any term and all terms, and their numbers.
type plainRanking struct {
	or, and           []scored
	orCount, andCount int
}

// Checker compares all rankings with each other, and a sample of them with plain
// scores.
type Checker struct {
	sample map[int]*plainRanking
	want   map[asked][]Answer // answers of the first run
	first  map[asked]string
	runs   int
}

// NewChecker scores a sample of the first n queries plainly: every posting adds its
// contribution to the sum of its document.
func NewChecker(ctx context.Context, w *Workload, n, k int) (*Checker, error) {
	c := &Checker{sample: make(map[int]*plainRanking), want: make(map[asked][]Answer), first: make(map[asked]string)}
	n = min(n, len(w.Queries))
	src := w.Source
	var tokens float64
	for _, l := range src.Lengths {
		tokens += float64(l)
	}
	params, docsWithTerms := w.Params, src.CountWithTerms()
	average := tokens / float64(docsWithTerms)
	sums, counts := make([]float64, src.Docs), make([]uint8, src.Docs)
	var docs, freqs []uint32
	for i := range min(plainSample, n) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		q := i * n / min(plainSample, n)
		clear(sums)
		clear(counts)
		for j, h := range w.Handles[q] {
			var err error
			if docs, err = src.List(h).AppendTo(docs[:0]); err != nil {
				return nil, err
			}
			packed, err := src.Freq(h)
			if err == nil {
				freqs, err = packed.AppendTo(freqs[:0])
			}
			if err != nil {
				return nil, err
			}
			weight := params.Weight(docsWithTerms, uint64(len(docs)))
			if src.Impacts > 0 {
				weight = w.Queries[q].Weights[j]
			}
			for p, d := range docs {
				counts[d]++
				if src.Impacts > 0 {
					sums[d] += weight * float64(freqs[p]+1)
				} else {
					sums[d] += weight * params.TF(freqs[p]+1, src.Lengths[d], average)
				}
			}
		}
		c.sample[q] = bestOf(sums, counts, len(w.Handles[q]), k+plainMargin)
	}
	return c, nil
}

// bestOf ranks the documents that contain any and all of a number of terms.
func bestOf(sums []float64, counts []uint8, terms, most int) *plainRanking {
	or, and := keeper{most: most}, keeper{most: most}
	for d, n := range counts {
		if n > 0 {
			or.add(scored{uint32(d), sums[d]})
		}
		if int(n) == terms {
			and.add(scored{uint32(d), sums[d]})
		}
	}
	slices.SortFunc(or.best, byScore)
	slices.SortFunc(and.best, byScore)
	return &plainRanking{or.best, and.best, or.count, and.count}
}

// keeper keeps the best of documents that come in ascending order.
type keeper struct {
	most, count int
	best        []scored // and some more documents
	least       float64  // documents up to this score are not among the best
}

func (k *keeper) add(s scored) {
	k.count++
	if s.score <= k.least {
		return
	}
	if k.best = append(k.best, s); len(k.best) >= 4*k.most {
		slices.SortFunc(k.best, byScore)
		k.best = k.best[:k.most]
		k.least = k.best[k.most-1].score
	}
}

// Answer returns the answer to query q. It copies the ranking if the query is in the
// sample.
func (c *Checker) Answer(q int, docs []uint32, scores []float64) Answer {
	a := Answer{Digest: workload.Mix(uint64(len(docs)))}
	for i, d := range docs {
		a.Digest = workload.Mix(a.Digest ^ uint64(d)<<32 ^ math.Float64bits(scores[i]))
	}
	if c.sample[q] != nil {
		for i, d := range docs {
			a.best = append(a.best, scored{d, scores[i]})
		}
	}
	return a
}

// Check compares the answers of one run to queries 0 to len(got)-1.
func (c *Checker) Check(who string, mode workload.Mode, k int, got []Answer) error {
	for q, plain := range c.sample {
		if q < len(got) {
			if err := plain.check(mode, k, got[q].best); err != nil {
				return fmt.Errorf("%s: query %d: %w", who, q, err)
			}
		}
	}
	asked := asked{mode, k}
	want := c.want[asked]
	for q := range min(len(want), len(got)) {
		if got[q].Digest != want[q].Digest {
			return fmt.Errorf("%s: the ranking of query %d is not that of %s", who, q, c.first[asked])
		}
	}
	if len(got) > len(want) {
		c.want[asked], c.first[asked] = got, who
	}
	c.runs++
	return nil
}

// check reports a ranking that disagrees with the plain scores: each place needs the
// plain score of the place, and of its document.
func (r *plainRanking) check(mode workload.Mode, k int, got []scored) error {
	best, count := r.or, r.orCount
	if mode == workload.And || mode == workload.AndOr && r.andCount >= k {
		best, count = r.and, r.andCount
	}
	if len(got) != min(k, count) {
		return fmt.Errorf("%d documents, want %d", len(got), min(k, count))
	}
	score := make(map[uint32]float64, len(best))
	for _, b := range best {
		score[b.doc] = b.score
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= scoreTolerance*math.Abs(b)+1e-9 }
	for i, g := range got {
		own, known := score[g.doc]
		switch {
		case !known || !near(g.score, own):
			return fmt.Errorf("place %d: document %d scores %v, plainly %v", i+1, g.doc, g.score, own)
		case !near(g.score, best[i].score):
			return fmt.Errorf("place %d has the score %v, plainly %v", i+1, g.score, best[i].score)
		case i > 0 && byScore(got[i-1], g) >= 0:
			return fmt.Errorf("place %d is before place %d", i+1, i)
		}
		delete(score, g.doc)
	}
	return nil
}

// String describes the comparisons.
func (c *Checker) String() string {
	most := 0
	for _, want := range c.want {
		most = max(most, len(want))
	}
	return fmt.Sprintf("verified: %d runs gave the same rankings to all of up to %d queries, %d of them the rankings of plain scores",
		c.runs, most, len(c.sample))
}
