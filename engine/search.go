package engine

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"heddle/engine/index/analyze"
	"heddle/engine/index/querylang"
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
	Expr *querylang.Expr
	// Weights of Terms, as many as there are, positive and finite; nil is 1 each.
	// Only ranking looks at them. In a Text they stand behind the words: heaven^2.5.
	Weights []float64
}

// SearchOptions vary from call to call; the zero value takes the index's
// options and asks for docIDs.
type SearchOptions struct {
	Algorithm plan.Algorithm
	CountOnly bool
	// Any asks for the documents that have any of the terms, in place of every one.
	// It leaves expressions as they are.
	Any bool
	// Part gives each query to one work-group or worker, as plan.MatchBatch says.
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
	batch   plan.MatchBatch
	results plan.Results
	handles []plan.Handle

	any bool // SearchOptions.Any

	ranked // queries to be ranked

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
	if err := x.run(ctx, w, (*worker).run); err != nil {
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
	w.any = opt.Any
}

// add resolves the terms of q and appends it to the worker's batch. It returns
// the length of the shortest list, or what evaluating an expression reads.
func (x *Index) add(w *worker, q Query) (uint64, error) {
	if q.Expr != nil {
		return x.addExpr(w, x.formula(w, *q.Expr))
	}
	terms := q.Terms
	if q.Text != "" {
		terms = x.analyze(w, q.Text)
	}
	if w.any {
		f := plan.Expr{Op: plan.OpOr}
		for _, t := range terms {
			if h, ok := x.dict.Lookup(t); ok {
				f.Args = append(f.Args, plan.Expr{List: h})
			}
		}
		return x.addExpr(w, f.Simplify(x.src))
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
	x.appendTerms(w, text)
	return w.terms
}

// appendTerms adds the terms of text to those of w.
func (x *Index) appendTerms(w *worker, text string) {
	if x.analyzer == nil {
		for t := range strings.FieldsSeq(text) {
			w.terms = append(w.terms, t)
		}
		return
	}
	if w.tokens == nil {
		w.tokens = x.analyzer.Tokenizer()
	}
	w.tokens.Each([]byte(text), func(term []byte) { w.terms = append(w.terms, string(term)) })
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
	return x.batches(ctx, qs, job{
		threshold: x.threshold(opt),
		workers:   x.workerCount(),
		most:      1 << 16,
		mean:      &x.meanLoad,
		reset:     func(w *worker) { w.reset(x, opt) },
		add:       x.add,
		run: func(ctx context.Context, w *worker, first int) error {
			if err := x.run(ctx, w, (*worker).run); err != nil {
				return err
			}
			return deliver(first, &w.results)
		},
	})
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

// SearchMany answers queries into out, in their order. out is the caller's and
// is reused.
func (x *Index) SearchMany(ctx context.Context, qs []Query, opt SearchOptions, out *plan.Results) error {
	return gatherResults(len(qs), out, func(deliver func(first int, r *plan.Results) error) error {
		return x.SearchBatches(ctx, qs, opt, deliver)
	})
}
