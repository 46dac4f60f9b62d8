package engine

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"heddle/engine/analyze"
	"heddle/engine/boolean"
	"heddle/engine/plan"
)

// Query asks for the documents that contain every term, or that a boolean
// expression describes.
type Query struct {
	// Text is analysed as the documents were.
	Text string
	// Terms are index terms as they are; they are used where Text is empty.
	Terms []string
	// Expr takes the place of both; Index.Formula says what it means. It must not
	// be changed while the query runs. SearchOptions.Algorithm concerns those that
	// are a mere AND of terms.
	Expr *boolean.Expr
}

// SearchOptions vary from call to call; the zero value takes the index's
// options and asks for docIDs.
type SearchOptions struct {
	Algorithm plan.Algorithm
	CountOnly bool
	// Part gives each query to one work-group or worker, as plan.Batch says.
	Part bool
	// BatchCandidates closes a batch in place of Options.BatchCandidates; 0
	// leaves it.
	BatchCandidates uint64
}

// Answer is what one query matched.
type Answer struct {
	Count uint64
	Docs  []uint32 // ascending; nil when only the count was asked for
	Stats plan.Stats
}

// worker holds what one goroutine needs to prepare and run batches.
type worker struct {
	batch   plan.Batch
	results plan.Results
	handles []plan.Handle

	// Queries that are more than an AND of lists are empty in batch.
	formulas    plan.Formulas
	places      []int        // of the formulas among the queries
	plain, sets plan.Results // of batch and formulas, where there are both

	terms  []string
	tokens *analyze.Tokenizer // made when the worker first meets a text
}

// Search answers one query. The answer's memory is the caller's.
func (x *Index) Search(ctx context.Context, q Query, opt SearchOptions) (Answer, error) {
	if x.closed.Load() { // before anything looks at the file
		return Answer{}, plan.ErrClosed
	}
	w := x.workers.Get().(*worker)
	defer x.workers.Put(w)
	w.reset(x, opt)
	if _, err := x.add(w, q); err != nil {
		return Answer{}, err
	}
	if err := x.run(ctx, w); err != nil {
		return Answer{}, err
	}
	a := Answer{Count: w.results.Count(0), Stats: w.results.Stats}
	if !opt.CountOnly {
		a.Docs = append(make([]uint32, 0, a.Count), w.results.Query(0)...)
	}
	return a, nil
}

func (w *worker) reset(x *Index, opt SearchOptions) {
	w.batch.Reset()
	w.batch.CountOnly, w.batch.Part = opt.CountOnly, opt.Part
	w.batch.Algorithm = opt.Algorithm
	if opt.Algorithm == plan.Auto {
		w.batch.Algorithm = x.opt.Algorithm
	}
	w.formulas.Reset()
	w.formulas.CountOnly = opt.CountOnly
	w.places = w.places[:0]
}

// add resolves the terms of q and appends it to the worker's batch. It returns
// the length of the shortest list, or what evaluating an expression reads.
func (x *Index) add(w *worker, q Query) (uint64, error) {
	if q.Expr != nil {
		return x.addExpr(w, *q.Expr)
	}
	terms := q.Terms
	if q.Text != "" {
		terms = x.analyze(w, q.Text)
	}
	w.handles = w.handles[:0]
	shortest := ^uint32(0)
	for _, t := range terms {
		h, ok := x.dict.Lookup(t)
		if !ok { // an unknown term is in no document
			w.handles = w.handles[:0]
			break
		}
		w.handles = append(w.handles, h)
		shortest = min(shortest, x.src.Lists[h].Len)
	}
	w.batch.Add(x.src, w.handles...)
	if len(w.handles) == 0 {
		return 0, nil
	}
	return uint64(shortest), nil
}

// Terms analyses a query text as Search does, duplicates kept.
func (x *Index) Terms(text string) []string {
	w := x.workers.Get().(*worker)
	defer x.workers.Put(w)
	return slices.Clone(x.analyze(w, text))
}

// analyze returns the terms of text; they are valid until the worker's next text.
func (x *Index) analyze(w *worker, text string) []string {
	w.terms = w.terms[:0]
	if x.analyzer == nil {
		for t := range strings.FieldsSeq(text) {
			w.terms = append(w.terms, t)
		}
		return w.terms
	}
	if w.tokens == nil {
		w.tokens = x.analyzer.Tokenizer()
	}
	w.tokens.Each([]byte(text), func(term []byte) { w.terms = append(w.terms, string(term)) })
	return w.terms
}

// SearchBatches answers queries in batches and hands each batch's results to
// deliver, with the number of its first query: results of query first+i are
// Query(i) of r. Several goroutines call deliver at the same time, with
// disjoint ranges and in no order; r is valid during the call only. It stops at
// the first error, that of deliver included. Nothing is allocated per query in a
// steady state.
func (x *Index) SearchBatches(ctx context.Context, qs []Query, opt SearchOptions, deliver func(first int, r *plan.Results) error) error {
	if x.closed.Load() {
		return plan.ErrClosed
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(x.workerCount(), max(len(qs), 1)) {
		wg.Go(func() {
			w := x.workers.Get().(*worker)
			defer x.workers.Put(w)
			for inner.Err() == nil {
				block := x.blockSize(len(qs), x.threshold(opt))
				first := int(next.Add(block) - block)
				if first >= len(qs) {
					return
				}
				if err := x.runBlock(inner, w, qs[first:min(first+int(block), len(qs))], first, opt, deliver); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return cmp.Or(ctx.Err(), context.Cause(inner))
}

// runBlock answers consecutive queries in as many batches as the threshold asks.
func (x *Index) runBlock(ctx context.Context, w *worker, qs []Query, first int, opt SearchOptions, deliver func(int, *plan.Results) error) error {
	var total, load uint64
	w.reset(x, opt)
	for i := range qs {
		n, err := x.add(w, qs[i])
		if err != nil {
			return err
		}
		load += n
		total += n
		// A block was cut to make one batch; it makes more only where its queries
		// are far heavier than the mean.
		if load/2 < x.threshold(opt) && i+1 < len(qs) {
			continue
		}
		if err := x.run(ctx, w); err != nil {
			return err
		}
		if err := deliver(first, &w.results); err != nil {
			return err
		}
		first += w.batch.Queries()
		load = 0
		w.reset(x, opt)
	}
	x.meanLoad.Store((x.meanLoad.Load()*3 + total/uint64(len(qs))) / 4)
	return nil
}

// blockSize is how many queries should make one batch, from the mean load seen
// so far; small blocks at first, and never so large that workers idle.
func (x *Index) blockSize(queries int, threshold uint64) int64 {
	mean := max(x.meanLoad.Load(), 16)
	n := int64(threshold / mean)
	return max(1, min(n, int64(queries/x.workerCount()+1), 1<<16))
}

// threshold closes the batches of one call.
func (x *Index) threshold(opt SearchOptions) uint64 {
	return cmp.Or(opt.BatchCandidates, x.BatchCandidates())
}

// BatchCandidates is the computational threshold in force: the load at which a
// batch is closed.
func (x *Index) BatchCandidates() uint64 {
	if x.opt.BatchCandidates > 0 {
		return x.opt.BatchCandidates
	}
	return cmp.Or(x.active.Load().info.Batch, DefaultBatchCandidates)
}

func (x *Index) workerCount() int {
	if x.opt.Workers > 0 {
		return x.opt.Workers
	}
	return min(max(runtime.GOMAXPROCS(0), 2), 16)
}

// SearchMany answers queries into out, in their order. out is the caller's and
// is reused.
func (x *Index) SearchMany(ctx context.Context, qs []Query, opt SearchOptions, out *plan.Results) error {
	type part struct {
		first int
		r     plan.Results
	}
	var mu sync.Mutex
	parts := make(map[int]*part)
	err := x.SearchBatches(ctx, qs, opt, func(first int, r *plan.Results) error {
		p := &part{first: first, r: plan.Results{
			Offsets: append([]uint64(nil), r.Offsets...), Docs: append([]uint32(nil), r.Docs...), Stats: r.Stats}}
		mu.Lock()
		defer mu.Unlock()
		if parts[first] != nil {
			return errors.New("engine: a batch was delivered twice")
		}
		parts[first] = p
		return nil
	})
	if err != nil {
		return err
	}
	out.Reset()
	for i := 0; i < len(qs); {
		p := parts[i]
		base := out.Offsets[len(out.Offsets)-1]
		for _, o := range p.r.Offsets[1:] {
			out.Offsets = append(out.Offsets, base+o)
		}
		out.Docs = append(out.Docs, p.r.Docs...)
		out.Stats.Add(p.r.Stats)
		i += len(p.r.Offsets) - 1
	}
	return nil
}
