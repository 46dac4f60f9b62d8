package harness

import (
	"context"

	"heddle/engine"
	"heddle/engine/index/bm25"
	"heddle/engine/plan"
)

// Names of the engine that benchmarks use. Only this file, schedule/engine.go and
// bitmap/table.go import the engine.
type (
	Query      = engine.Query
	Dictionary = engine.Dictionary
	Rankings   = engine.Rankings
	// Mode selects the documents of a ranked query: any term, every term, or every term
	// if enough documents have them.
	Mode = engine.Mode
)

// Modes of ranked queries.
const (
	Or    = engine.Or
	And   = engine.And
	AndOr = engine.AndOr
)

// Modes returns all modes of ranked queries.
func Modes() []Mode { return engine.Modes() }

// Index is an index of a contestant. Benchmarks use the index of the engine only
// through it.
type Index struct{ x *engine.Index }

// NewIndex makes an index of a source on a contestant, opened for an access.
// threads applies to pure Go.
func (r *Runner) NewIndex(ctx context.Context, who Contestant, threads int, a Access, src *plan.Source, dict Dictionary) (*Index, error) {
	opt := engine.Options{Backend: who.Name, Threads: threads}
	if a == Alone || a == Profiled {
		opt.Workers = 1
	}
	if who.Device != nil {
		b, err := r.Backend(ctx, who, a)
		if err != nil {
			return nil, err
		}
		opt.On = b
	}
	return openIndex(ctx, src, dict, opt)
}

// NewIndexOn makes an index of a source on a backend, which stays open.
func NewIndexOn(ctx context.Context, b plan.Backend, src *plan.Source, dict Dictionary) (*Index, error) {
	return openIndex(ctx, src, dict, engine.Options{On: b})
}

func openIndex(ctx context.Context, src *plan.Source, dict Dictionary, opt engine.Options) (*Index, error) {
	x, err := engine.New(ctx, src, dict, opt)
	if err != nil {
		return nil, err
	}
	return &Index{x}, nil
}

// MatchOptions are the options of a run of conjunctive queries.
type MatchOptions struct {
	Algorithm  plan.Algorithm
	Part       bool   // one query per work-group (PART), else one element per work-item (PARA)
	CountOnly  bool   // no docIDs
	Candidates uint64 // threshold that closes a batch; 0 is the default of the backend
}

func (o MatchOptions) engine() engine.SearchOptions {
	return engine.SearchOptions{Algorithm: o.Algorithm, Part: o.Part, CountOnly: o.CountOnly, BatchCandidates: o.Candidates}
}

// Match answers queries in batches. deliver receives the results of a batch and the
// number of its first query; it may run on several goroutines.
func (x *Index) Match(ctx context.Context, qs []Query, opt MatchOptions, deliver func(first int, r *plan.Results) error) error {
	return x.x.SearchBatches(ctx, qs, opt.engine(), deliver)
}

// MatchOne answers one query.
func (x *Index) MatchOne(ctx context.Context, q Query, opt MatchOptions) ([]uint32, error) {
	a, err := x.x.Search(ctx, q, opt.engine())
	return a.Docs, err
}

// RankOptions are the options of a run of ranked queries.
type RankOptions struct {
	Mode         engine.Mode
	K            int
	Accumulators plan.Accumulators
	Postings     uint64       // threshold that closes a batch; 0 is the default of the backend
	Scoring      *bm25.Params // nil: the scoring of the index
}

func (o RankOptions) engine() engine.RankOptions {
	return engine.RankOptions{Mode: o.Mode, K: o.K, Accumulators: o.Accumulators, BatchPostings: o.Postings, Scoring: o.Scoring}
}

// Rank answers ranked queries in batches, as match does.
func (x *Index) Rank(ctx context.Context, qs []Query, opt RankOptions, deliver func(first int, r *Rankings) error) error {
	return x.x.RankBatches(ctx, qs, opt.engine(), deliver)
}

// RankOne answers one ranked query.
func (x *Index) RankOne(ctx context.Context, q Query, opt RankOptions) ([]uint32, error) {
	r, err := x.x.Rank(ctx, q, opt.engine())
	return r.Docs, err
}

// Threshold is the default number of candidates that closes a batch.
func (x *Index) Threshold() uint64 { return x.x.BatchCandidates() }

// Memory is the number of bytes that the backend holds for the index.
func (x *Index) Memory() uint64 { return x.x.Memory() }

// Close releases the index. The device stays open.
func (x *Index) Close() error { return x.x.Close() }
