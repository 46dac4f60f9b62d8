package rank

import (
	"context"
	"slices"
	"sync/atomic"

	"heddle/engine/file/mapped"
	"heddle/engine/plan"
	"heddle/hostfallback/internal/filter"
	"heddle/hostfallback/work"
)

// part is a range of documents of one query, the task of one goroutine. A query is one
// part, or several if it is large.
type part struct {
	query     int            // index in the batch
	from, to  uint64         // documents from from to to-1
	keys      []key          // the best of the range
	threshold *atomic.Uint32 // a score that at least K documents of the query reach
}

// batch is one running call of Rank, reused from call to call.
type batch struct {
	parts      []part
	thresholds []atomic.Uint32 // by query
	lists      []plan.Handle   // the lists whose tables are missing
	blocks     []plan.Handle   // the lists whose blocks are missing
	first      []int           // the first part of each query, and the number of parts
	filters    []*filter.Set   // by query, nil for none; empty if no query has one
	threads    int

	ctx     context.Context
	ranker  *Ranker
	queries *plan.RankBatch
	tables  *tables
	task    func(w, i int) error // rankPart, made once
}

// forget drops what a call has lent.
func (j *batch) forget() {
	clear(j.filters)
	j.ctx, j.ranker, j.queries, j.tables = nil, nil, nil, nil
}

// rank finds the best documents of all parts.
func (j *batch) rank(ctx context.Context, r *Ranker, b *plan.RankBatch, tables *tables) error {
	j.ctx, j.ranker, j.queries, j.tables = ctx, r, b, tables
	if j.task == nil {
		j.task = j.rankPart
	}
	return work.Parallel(ctx, j.threads, len(j.parts), j.task)
}

// rankPart ranks part i.
func (j *batch) rankPart(_, i int) (err error) {
	w := j.ranker.workers.Get()
	defer j.ranker.workers.Done(w, &err)
	defer mapped.Catch(mapped.Watch(), &err)
	p := &j.parts[i]
	w.filter = nil
	if len(j.filters) > 0 {
		w.filter = j.filters[p.query]
		defer func() { w.filter = nil }()
	}
	return w.rank(j.ctx, j.ranker, j.queries, j.tables, p)
}

// partLoad is the least number of postings that pay for a part.
const partLoad = 64 << 10

// prepare builds the missing tables and blocks of the lists in b. A list has them from its second use under a
// Norm on, because decoding the list once takes less time. Each addition to a collection gives its
// segments a further Norm. A list of a query that prunes blocks has no table, unless one of the lists of the query
// has no blocks. plan.BlockAccumulators make blocks at the first use.
func (j *batch) prepare(ctx context.Context, r *Ranker, b *plan.RankBatch, tables *tables) error {
	if tables == nil {
		return nil
	}
	j.lists, j.blocks = j.lists[:0], j.blocks[:0]
	for i := range b.Queries() {
		j.want(r, b, i, tables)
	}
	if len(j.blocks) > 0 {
		slices.Sort(j.blocks)
		j.blocks = slices.Compact(j.blocks)
		err := work.Parallel(ctx, r.work.Threads, len(j.blocks), func(_, i int) error { return tables.addBlocks(ctx, j.blocks[i]) })
		if err != nil {
			return err
		}
	}
	if len(j.lists) == 0 { // in the steady state
		return nil
	}
	slices.Sort(j.lists)
	j.lists = slices.Compact(j.lists)
	return work.Parallel(ctx, r.work.Threads, len(j.lists), func(_, i int) error {
		if b.Mode == plan.And {
			if _, err := r.aux.Prepare(j.lists[i]); err != nil {
				return err
			}
		}
		return tables.add(ctx, j.lists[i])
	})
}

// want appends the lists of query i without table to j.lists, or without blocks to j.blocks.
func (j *batch) want(r *Ranker, b *plan.RankBatch, i int, tables *tables) {
	lists, blocked := len(j.lists), len(j.blocks)
	pruned := canPrune(r.src, b, i)
	for _, t := range b.Query(i) {
		slot := tables.lists.At(t.List, len(r.src.Lists))
		got := slot.Load()
		if got == nil {
			slot.CompareAndSwap(nil, usedOnce)
			if b.Accumulators != plan.BlockAccumulators {
				continue
			}
		}
		if pruned {
			switch tables.blocks.At(t.List, len(r.src.Lists)).Load() {
			case nil:
				j.blocks = append(j.blocks, t.List)
			case noBlocks:
				pruned = false
			}
		}
		if got == usedOnce || got != nil && b.Mode == plan.And && r.aux.Prepared(t.List) == nil {
			j.lists = append(j.lists, t.List)
		}
	}
	if pruned {
		j.lists = j.lists[:lists]
	} else {
		j.blocks = j.blocks[:blocked]
	}
}

// load estimates the work for the query of terms, in postings.
func load(src *plan.Source, mode plan.Mode, terms []plan.Term) (n uint64) {
	for _, t := range terms {
		l := uint64(src.Lists[t.List].Len)
		if mode == plan.And { // the shortest list decides
			return l * uint64(len(terms))
		}
		n += l
	}
	return n
}

// split divides the queries into parts, and sets the number of threads.
func (j *batch) split(r *Ranker, b *plan.RankBatch) {
	total := uint64(0)
	for i := range b.Queries() {
		total += load(r.src, b.Mode, b.Query(i))
	}
	j.threads = work.Threads(r.work.Threads, b.Threads)
	docs := uint64(r.src.Docs)
	grain := work.Grain(partLoad, total, j.threads)
	if len(j.thresholds) < b.Queries() {
		j.thresholds = make([]atomic.Uint32, b.Queries())
	}
	n := 0
	j.parts = j.parts[:cap(j.parts)]
	for i := range b.Queries() {
		j.thresholds[i].Store(0)
		size := work.RangeLen(docs, minRange, load(r.src, b.Mode, b.Query(i)), grain, j.threads)
		if b.Accumulators == plan.GlobalAccumulators {
			size = min(size, maxGlobal)
		}
		for from := uint64(0); from == 0 || from < docs; from += size {
			if n == len(j.parts) {
				j.parts = append(j.parts, part{})
				j.parts = j.parts[:cap(j.parts)]
			}
			p := &j.parts[n]
			p.query, p.from, p.to, p.threshold = i, from, min(from+size, docs), &j.thresholds[i]
			n++
		}
	}
	j.parts = j.parts[:n]
}

// shareThreshold sets the thresholds of b and of the other parts of the query to the greater of both.
func (p *part) shareThreshold(b *best) {
	known := b.threshold.score()
	for {
		all := p.threshold.Load()
		if all >= known {
			b.raise(all)
			return
		}
		if p.threshold.CompareAndSwap(all, known) {
			return
		}
	}
}

// gatherLoad is the least number of result documents that pay for a goroutine.
const gatherLoad = 32 << 10

// gather joins the parts of each query into out, best documents first.
func (j *batch) gather(ctx context.Context, b *plan.RankBatch, out *plan.TopK) error {
	first := j.first[:0]
	for i := range j.parts {
		p := &j.parts[i]
		if p.query == len(first) {
			first = append(first, i)
			out.Offsets = append(out.Offsets, 0)
		}
		out.Offsets[p.query+1] += uint64(len(p.keys))
	}
	j.first = append(first, len(j.parts))
	for i := range b.Queries() {
		out.Offsets[i+1] = out.Offsets[i] + min(out.Offsets[i+1], uint64(b.K))
	}
	total := int(out.Offsets[b.Queries()])
	out.Docs, out.Scores = slices.Grow(out.Docs, total)[:total], slices.Grow(out.Scores, total)[:total]
	pieces := total/gatherLoad + 1
	if pieces == 1 {
		for q := range b.Queries() {
			j.join(q, out)
		}
		return nil
	}
	return work.Parallel(ctx, j.threads, pieces, func(_, i int) error {
		for q := b.Queries() * i / pieces; q < b.Queries()*(i+1)/pieces; q++ {
			j.join(q, out)
		}
		return nil
	})
}

// join writes the documents of query q to out.
func (j *batch) join(q int, out *plan.TopK) {
	parts := j.parts[j.first[q]:j.first[q+1]]
	keys := parts[0].keys
	if len(parts) > 1 {
		for _, p := range parts[1:] {
			keys = append(keys, p.keys...)
		}
		slices.Sort(keys)
		parts[0].keys = keys
	}
	docs, scores := out.Query(q)
	for i := range docs {
		docs[i], scores[i] = keys[len(keys)-1-i].split()
	}
}
