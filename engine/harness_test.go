package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"heddle/engine/index/bm25"
	"heddle/engine/index/hdl"
	"heddle/engine/internal/backend"
	"heddle/engine/internal/schedule"
	"heddle/engine/observe"
	"heddle/engine/plan"
	"heddle/hostfallback"
)

// searcher answers queries: an index or a snapshot.
type searcher interface {
	Search(ctx context.Context, q Query) (Hits, error)
	SearchAll(ctx context.Context, qs []Query, deliver func(first int, hits []Hits) error) error
}

// asks asks a searcher in the forms that tests compare.
type asks struct{ s searcher }

// searchOptions are the options of boolean queries in tests.
type searchOptions struct {
	Algorithm       plan.Algorithm
	CountOnly       bool
	Any             bool // documents with any term, in place of every term
	Part            bool
	BatchCandidates uint64
}

// rankOptions are the options of ranked queries in tests.
type rankOptions struct {
	Mode          Match
	K             int
	Scoring       *bm25.Params
	Statistics    *Statistics
	Accumulators  plan.Accumulators
	BatchPostings uint64
}

// calling names the caller of a query of a test and how the query runs.
type calling struct {
	Caller  string
	Mode    schedule.Mode
	Timeout time.Duration
	Fresh   bool
	Explain *observe.Explanation
}

type (
	answer struct {
		Count uint64
		Docs  []uint32
		Stats plan.Stats
	}
	ranking struct {
		Docs   []uint32
		Scores []float64
		Stats  plan.Stats
	}
	rankings struct {
		Offsets []uint64
		Docs    []uint32
		Scores  []float64
		Stats   plan.Stats
	}
)

func (r *rankings) Queries() int { return max(len(r.Offsets)-1, 0) }

func (r *rankings) Query(i int) ([]uint32, []float64) {
	a, b := r.Offsets[i], r.Offsets[i+1]
	return r.Docs[a:b], r.Scores[a:b]
}

func (o searchOptions) query(q Query, call ...calling) Query {
	q.K, q.CountOnly, q.Match = 0, o.CountOnly, And
	if o.Any {
		q.Match = Or
	}
	if o.Algorithm != 0 || o.Part || o.BatchCandidates != 0 {
		q.Override = &Override{Algorithm: o.Algorithm, Part: o.Part, Batch: o.BatchCandidates}
	}
	return withCall(q, call)
}

func (o rankOptions) query(q Query, call ...calling) Query {
	q.K, q.Match, q.Scoring, q.Statistics = o.K, o.Mode, o.Scoring, o.Statistics
	if q.K == 0 {
		q.K = -1 // 0 would not rank
	}
	if o.Accumulators != 0 || o.BatchPostings != 0 {
		q.Override = &Override{Accumulators: o.Accumulators, Batch: o.BatchPostings}
	}
	return withCall(q, call)
}

func withCall(q Query, call []calling) Query {
	for _, c := range call {
		q.Caller, q.Timeout, q.Fresh, q.Explain = c.Caller, c.Timeout, c.Fresh, c.Explain
		if c.Mode != schedule.Auto {
			var t Override
			if q.Override != nil {
				t = *q.Override
			}
			t.Mode = c.Mode.String()
			q.Override = &t
		}
	}
	return q
}

func (a asks) search(ctx context.Context, q Query, opt searchOptions, call ...calling) (answer, error) {
	var why observe.Explanation
	in := opt.query(q, call...)
	if in.Explain == nil {
		in.Explain = &why
	}
	h, err := a.s.Search(ctx, in)
	return answer{h.Count, h.Docs, in.Explain.Stats}, err
}

func (a asks) rank(ctx context.Context, q Query, opt rankOptions, call ...calling) (ranking, error) {
	var why observe.Explanation
	in := opt.query(q, call...)
	if in.Explain == nil {
		in.Explain = &why
	}
	h, err := a.s.Search(ctx, in)
	return ranking{h.Docs, h.Scores, in.Explain.Stats}, err
}

// queriesOf prepares queries for searchAll. why receives the explanation of the call.
func queriesOf(qs []Query, form func(q Query, call ...calling) Query, call []calling, why *observe.Explanation) []Query {
	all := make([]Query, len(qs))
	for i, q := range qs {
		all[i] = form(q, call...)
	}
	if len(all) > 0 && all[0].Explain == nil {
		all[0].Explain = why
	}
	return all
}

// searchBatches passes the answers to deliver as results of a backend.
func (a asks) searchBatches(ctx context.Context, qs []Query, opt searchOptions, deliver func(first int, r *plan.Results) error, call ...calling) error {
	var why observe.Explanation
	return a.s.SearchAll(ctx, queriesOf(qs, opt.query, call, &why), func(first int, hits []Hits) error {
		var r plan.Results
		r.Reset()
		n := uint64(0)
		for _, h := range hits {
			n += h.Count
			r.Offsets, r.Docs = append(r.Offsets, n), append(r.Docs, h.Docs...)
		}
		return deliver(first, &r)
	})
}

// rankBatches passes the answers to deliver as rankings.
func (a asks) rankBatches(ctx context.Context, qs []Query, opt rankOptions, deliver func(first int, r *rankings) error, call ...calling) error {
	var why observe.Explanation
	return a.s.SearchAll(ctx, queriesOf(qs, opt.query, call, &why), func(first int, hits []Hits) error {
		r := rankings{Offsets: []uint64{0}}
		for _, h := range hits {
			r.Docs, r.Scores = append(r.Docs, h.Docs...), append(r.Scores, h.Scores...)
			r.Offsets = append(r.Offsets, uint64(len(r.Docs)))
		}
		return deliver(first, &r)
	})
}

// gather collects all answers of a call, in their order.
func gather(ctx context.Context, s searcher, qs []Query) ([]Hits, error) {
	all := make([]Hits, len(qs))
	var mu sync.Mutex
	seen := make([]bool, len(qs))
	err := s.SearchAll(ctx, qs, func(first int, hits []Hits) error {
		mu.Lock()
		defer mu.Unlock()
		for i, h := range hits {
			if seen[first+i] {
				return errors.New("a query was answered twice")
			}
			seen[first+i] = true
			h.Docs, h.Scores = slices.Clone(h.Docs), slices.Clone(h.Scores)
			all[first+i] = h
		}
		return nil
	})
	if err == nil && slices.Contains(seen, false) {
		err = errors.New("a query was not answered")
	}
	return all, err
}

func (a asks) searchMany(ctx context.Context, qs []Query, opt searchOptions, out *plan.Results, call ...calling) error {
	var why observe.Explanation
	all, err := gather(ctx, a.s, queriesOf(qs, opt.query, call, &why))
	if err != nil {
		return err
	}
	out.Reset()
	n := uint64(0)
	for _, h := range all {
		n += h.Count
		out.Offsets, out.Docs = append(out.Offsets, n), append(out.Docs, h.Docs...)
	}
	out.Stats = why.Stats
	return nil
}

func (a asks) rankMany(ctx context.Context, qs []Query, opt rankOptions, out *rankings, call ...calling) error {
	var why observe.Explanation
	all, err := gather(ctx, a.s, queriesOf(qs, opt.query, call, &why))
	if err != nil {
		return err
	}
	*out = rankings{Offsets: []uint64{0}, Stats: why.Stats}
	for _, h := range all {
		out.Docs, out.Scores = append(out.Docs, h.Docs...), append(out.Scores, h.Scores...)
		out.Offsets = append(out.Offsets, uint64(len(out.Docs)))
	}
	return nil
}

// served is an index with an engine of its own, which is closed with it.
type served struct {
	asks
	*Index
	e *Engine
}

// serving opens an engine and an index on it; neither stays open after an error.
func serving(ctx context.Context, opt Options, open func(e *Engine) (*Index, error)) (*served, error) {
	e, err := New(ctx, opt)
	if err != nil {
		return nil, err
	}
	x, err := open(e)
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return &served{asks{x}, x, e}, nil
}

// open opens an index file on an engine of its own.
func open(ctx context.Context, path string, opt Options, x ...IndexOptions) (*served, error) {
	return serving(ctx, opt, func(e *Engine) (*Index, error) { return e.OpenIndex(ctx, path, append(x, IndexOptions{})[0]) })
}

// openSource makes an index of lists in memory on an engine of its own.
func openSource(ctx context.Context, src *plan.Source, dict Dictionary, opt Options) (*served, error) {
	return serving(ctx, opt, func(e *Engine) (*Index, error) { return e.NewIndex(ctx, src, dict, IndexOptions{}) })
}

// side makes all processors of opt run side by side.
func side(opt Options) Options {
	if opt.Backend == "" {
		opt.Backend = backend.All
	}
	return opt
}

// startFile opens an index file on processors that run side by side.
func startFile(ctx context.Context, path string, opt Options) (*served, error) {
	return open(ctx, path, side(opt))
}

// startSource is openSource on processors that run side by side.
func startSource(ctx context.Context, src *plan.Source, dict Dictionary, opt Options) (*served, error) {
	return openSource(ctx, src, dict, side(opt))
}

func (x *served) Close() error { return x.e.Close() }

func (x *served) Stats() observe.Stats { return x.e.Stats() }

// Backend describes the processor that should run the next query: the first one with lists
// that is not removed, a reserve last.
func (x *served) Backend() plan.Info {
	info, _ := x.Info()
	for _, reserve := range []bool{false, true} {
		for _, p := range x.e.Processors() {
			has := slices.ContainsFunc(info.Resident, func(r Resident) bool { return r.Processor == p.Name })
			if has && p.Reserve == reserve && p.Removed == nil {
				return p.Info
			}
		}
	}
	return plan.Info{}
}

// resident is the number of processors that have the lists.
func (x *served) resident() int {
	info, _ := x.Info()
	return len(info.Resident)
}

// viewed is a snapshot of an index.
type viewed struct {
	asks
	*Snapshot
}

func (x *served) view() (viewed, error) {
	s, err := x.Snapshot()
	return viewed{asks{s}, s}, err
}

// hostCandidate is pure Go for candidates.
func hostCandidate(opt hostfallback.Options) backend.Candidate {
	return backend.Candidate{Name: "host", Host: true, Open: func(context.Context) (plan.Backend, error) { return hostfallback.New(opt), nil }}
}

// reserve makes a candidate a reserve.
func reserve(c backend.Candidate) backend.Candidate {
	c.Reserve = true
	return c
}

// pinned calls f with a snapshot of the index.
func (x *served) pinned(f func(s *Snapshot)) {
	s, err := x.Snapshot()
	if err != nil {
		panic(err)
	}
	defer s.Close()
	f(s)
}

func (x *served) File() (f *hdl.File) { x.pinned(func(s *Snapshot) { f = s.File() }); return }
func (x *served) Source() (src *plan.Source) {
	x.pinned(func(s *Snapshot) { src = s.Source() })
	return
}

func (x *served) Terms(text string) (terms []string) {
	x.pinned(func(s *Snapshot) { terms = s.Terms(text) })
	return terms
}

func (x *served) Expression(q Query) (e plan.Expr, not bool, err error) {
	x.pinned(func(s *Snapshot) { e, not, err = s.Expression(q) })
	return
}

func (x *served) WeightedTerms(q Query) (terms []string, weights []float64, err error) {
	x.pinned(func(s *Snapshot) { terms, weights, err = s.WeightedTerms(q) })
	return
}

func (x *served) Statistics(terms ...string) Statistics {
	s, _ := x.Index.Statistics(terms...)
	return s
}

// Memory is the memory of the lists on all processors.
func (x *served) Memory() (n uint64) {
	for _, p := range x.Stats().Processors {
		n += p.Memory
	}
	return n
}
