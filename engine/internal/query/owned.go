package query

import (
	"cmp"
	"context"
	"runtime"
	"slices"

	"heddle/engine/plan"
	"heddle/hostfallback/phrase"
	"heddle/hostfallback/work"
)

// worker is the memory of a goroutine that answers queries in pure Go.
type worker struct {
	stats             plan.Stats
	docs, freqs, sums []uint32
	best, all, leaf   []uint32 // sums of a scoreGroup: of its best leaf, of all leaves, of one leaf
	top               phrase.Best
	keys              []uint64  // a score in the upper half, the complement of a document in the lower one
	rankings          plan.TopK // that the worker made in this run
}

// inParallel calls answer for 0 to n-1, on all threads of the batch, and adds the statistics of the workers to st.
func (b *Batch) inParallel(ctx context.Context, n int, st *plan.Stats, answer func(w *worker, i int) error) error {
	threads := cmp.Or(b.Threads, runtime.GOMAXPROCS(0))
	piece := max(n/(8*threads), 1) // an answer may take less time than the turn of a thread
	pieces := (n + piece - 1) / piece
	threads = max(min(threads, pieces), 1)
	b.workers = append(b.workers, make([]worker, max(threads-len(b.workers), 0))...)
	for i := range b.workers {
		b.workers[i].stats = plan.Stats{}
		b.workers[i].rankings.Reset()
	}
	err := work.Parallel(ctx, threads, pieces, func(w, p int) error {
		for i := p * piece; i < min((p+1)*piece, n); i++ {
			if err := answer(&b.workers[w], i); err != nil {
				return err
			}
		}
		return nil
	})
	for i := range b.workers {
		st.Add(b.workers[i].stats)
	}
	return err
}

// answerOwned answers the queries with phrases of a batch that is not ranked. Another batch may adopt the query
// meanwhile, so it writes what Adopt does not read.
func (b *Batch) answerOwned(ctx context.Context, s plan.Store) error {
	b.matched = b.matched[:0]
	if err := b.makePhrases(ctx, s, &b.results.Stats); err != nil {
		return err
	}
	for i, p := range b.owned {
		if p != nil {
			b.matched = append(b.matched, rest{of: i})
		}
	}
	return b.inParallel(ctx, len(b.matched), &b.results.Stats, func(w *worker, n int) error {
		r := &b.matched[n]
		p := b.owned[r.of]
		permitted, err := b.permitted(ctx, r.of)
		if err != nil {
			return err
		}
		if r.docs, err = p.docs(ctx, b.source, permitted, 0, &w.stats); err != nil {
			return err
		}
		p.addStats(&w.stats)
		r.count = uint64(len(r.docs))
		w.stats.Matches += r.count
		return nil
	})
}

// rankOwned answers the expressions that have phrases or fields.
func (b *Batch) rankOwned(ctx context.Context) error {
	owned := b.expressions.owned
	if len(owned) == 0 {
		return nil
	}
	return b.inParallel(ctx, len(owned), &b.stats, func(w *worker, n int) error { return w.rank(ctx, b, owned[n]) })
}

// rank answers expression i, which has phrases or fields.
func (w *worker) rank(ctx context.Context, b *Batch, i int) error {
	a, terms := &b.expressions.answers[i], b.expressions.terms.Query(i)
	own := b.ownedBy(a.of)
	permitted, err := b.permitted(ctx, a.of)
	if err != nil {
		return err
	}
	if len(terms) == 0 && own.alone() {
		err = w.rankPhrase(ctx, b, own, permitted, a)
	} else {
		err = w.rankDocs(ctx, b, own, permitted, a, terms)
	}
	for _, t := range terms {
		w.stats.Postings += uint64(b.source.Lists[t.List].Len)
	}
	return err
}

// rankPhrase answers a query that is one phrase.
func (w *worker) rankPhrase(ctx context.Context, b *Batch, own *phrased, permitted []uint64, a *answer) error {
	s := own.scored[0]
	w.top.Reset(b.kind.K, s.weight, b.kind.Norm)
	if b.kind.Total == 0 && permitted == nil && !own.ready() {
		own = &phrased{set: own.set, base: own.base, phrases: own.phrases, scored: own.scored, best: &w.top}
	}
	if err := own.lists(ctx, b.source); err != nil {
		return err
	}
	own.addStats(&w.stats)
	made, lengths := own.made[s.number], b.source.Lengths
	w.top.Reset(b.kind.K, s.weight, b.kind.Norm)
	w.keys, a.count = w.keys[:0], 0
	for j, doc := range made.Docs {
		if permitted != nil && permitted[doc/64]>>(doc%64)&1 == 0 {
			continue
		}
		a.count++
		if score, ok := w.top.Add(made.Freqs[j], lengths[doc]); ok {
			w.keys = append(w.keys, rankKey(score, doc))
		}
	}
	w.take(a, b.kind.K)
	return nil
}

// rankDocs finds the documents of a query and adds their scores up.
func (w *worker) rankDocs(ctx context.Context, b *Batch, own *phrased, permitted []uint64, a *answer, terms []plan.Term) error {
	docs, err := own.docs(ctx, b.source, permitted, b.kind.K, &w.stats)
	if err != nil {
		return err
	}
	if err := w.score(ctx, b.source, docs, terms, b.kind.Norm, own); err != nil {
		return err
	}
	own.addStats(&w.stats)
	a.count = uint64(len(docs))
	w.choose(docs, b.kind.K)
	w.take(a, b.kind.K)
	return nil
}

// score sets the sums of docs, which ascend.
func (w *worker) score(ctx context.Context, src *plan.Source, docs []uint32, terms []plan.Term, norm plan.Norm, own *phrased) error {
	if own != nil && own.groups != nil {
		return w.scoreGroups(ctx, src, docs, norm, own)
	}
	w.sums = zeros(w.sums, len(docs))
	for _, t := range terms {
		if err := w.add(ctx, src, docs, w.sums, t, norm, own, false); err != nil {
			return err
		}
	}
	if own == nil {
		return nil
	}
	if err := own.lists(ctx, src); err != nil {
		return err
	}
	for _, s := range own.scored {
		own.add(src, docs, w.sums, s, norm)
	}
	return nil
}

// zeros returns n zeros in the memory of s if it has room.
func zeros(s []uint32, n int) []uint32 {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// scoreGroups sets the sums of docs, which ascend.
func (w *worker) scoreGroups(ctx context.Context, src *plan.Source, docs []uint32, norm plan.Norm, own *phrased) error {
	if err := own.lists(ctx, src); err != nil {
		return err
	}
	w.sums = zeros(w.sums, len(docs))
	for _, group := range own.groups {
		w.best, w.all = zeros(w.best, len(docs)), zeros(w.all, len(docs))
		for _, leaf := range group.leaves {
			w.leaf = zeros(w.leaf, len(docs))
			for _, t := range leaf.terms {
				if err := w.add(ctx, src, docs, w.leaf, t, norm, own, leaf.best); err != nil {
					return err
				}
			}
			for i, sum := range w.leaf {
				w.best[i], w.all[i] = max(w.best[i], sum), w.all[i]+sum
			}
		}
		for i := range w.sums {
			w.sums[i] += w.best[i] + uint32(uint64(w.all[i]-w.best[i])*uint64(group.tie)>>tieBits)
		}
	}
	return nil
}

// add adds the contributions of a term to the sums of docs, or makes each sum at least the contribution. The list of a phrase is
// phrased.base and its number.
func (w *worker) add(ctx context.Context, src *plan.Source, docs, sums []uint32, t plan.Term, norm plan.Norm, own *phrased, best bool) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if own != nil && t.List >= own.base {
		own.add(src, docs, sums, weightedPhrase{int(t.List - own.base), t.Weight}, norm)
		return nil
	}
	if w.docs, err = src.List(t.List).AppendTo(w.docs[:0]); err != nil {
		return err
	}
	freqs, err := src.Freq(t.List)
	if err != nil {
		return err
	}
	if w.freqs, err = freqs.AppendTo(w.freqs[:0]); err != nil {
		return err
	}
	norm, lengths := own.lengthRule(src, t.List, norm)
	i := 0
	for j, doc := range w.docs {
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
		if part := plan.Contribution(t.Weight, norm.TF(w.freqs[j]+1, length)); best {
			sums[i] = max(sums[i], part)
		} else {
			sums[i] += part
		}
	}
	return nil
}

// rankKey orders documents by their scores, equal ones by descending docID.
func rankKey(score, doc uint32) uint64 { return uint64(score)<<32 | uint64(^doc) }

// choose sets the keys to those of docs, at least of the k best.
func (w *worker) choose(docs []uint32, k int) {
	w.keys = w.keys[:0]
	least := uint64(0)
	for i, doc := range docs {
		x := rankKey(w.sums[i], doc)
		if x < least {
			continue
		}
		if w.keys = append(w.keys, x); len(w.keys) == 2*k {
			slices.Sort(w.keys)
			w.keys = append(w.keys[:0], w.keys[k:]...)
			least = w.keys[0]
		}
	}
}

// take makes the k best keys the ranking of a: by descending score, equal ones by ascending docID.
func (w *worker) take(a *answer, k int) {
	slices.Sort(w.keys)
	r, start := &w.rankings, len(w.rankings.Docs)
	for _, x := range slices.Backward(w.keys[max(len(w.keys)-k, 0):]) {
		r.Docs, r.Scores = append(r.Docs, ^uint32(x)), append(r.Scores, uint32(x>>32))
	}
	a.take(r, start)
}

// Scores returns the scores of documents that match the only query, which is ranked. They ascend. Pure Go computes
// them.
func (b *Batch) Scores(ctx context.Context, docs []uint32) (scores []float64, err error) {
	terms := b.ranks.Query(0)
	if n := b.expressions.of[0]; n > 0 {
		terms = b.expressions.terms.Query(int(n) - 1)
	}
	err = b.inParallel(ctx, 1, &b.stats, func(w *worker, _ int) error {
		err := w.score(ctx, b.source, docs, terms, b.kind.Norm, b.ownedBy(0))
		scores = b.appendScores(nil, 0, w.sums)
		return err
	})
	return scores, err
}
