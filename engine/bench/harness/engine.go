package harness

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"

	"heddle/engine"
	"heddle/engine/bench/workload"
	"heddle/engine/index/bm25"
	"heddle/engine/observe"
	"heddle/engine/plan"
)

// Hits is the answer of the engine to a query. Only this file, schedule/engine.go and
// bitmap/table.go import the engine.
type Hits = engine.Hits

// matches are the engine's names of modes.
var matches = [...]engine.Match{workload.Or: engine.Or, workload.And: engine.And, workload.AndOr: engine.AndOr}

// EngineQuery returns a query for the engine with a mode.
func EngineQuery(q workload.Query, mode workload.Mode) engine.Query {
	return engine.Query{Terms: q.Terms, Weights: q.Weights, Match: matches[mode]}
}

// Index is an index of a contestant, with an engine of its own. Benchmarks use the index of
// the engine only through it.
type Index struct {
	e     *engine.Engine
	x     *engine.Index
	cores int // cores that Match and Rank may use; 0: all

	mu      sync.Mutex
	asked   []workload.Query // queries of the last call of Match or Rank
	options any              // options of the same call
	queries []engine.Query   // asked with options
}

// NewIndex makes an index of a source on a contestant, opened for an access.
// threads applies to pure Go, which then takes no more cores than that.
func NewIndex(ctx context.Context, r *Runner, who Contestant, threads int, a Access, src *plan.Source, dict workload.Dictionary) (*Index, error) {
	opt := engine.Options{Backend: who.Name, Threads: threads}
	if who.Device != nil {
		b, err := r.Backend(ctx, who, a)
		if err != nil {
			return nil, err
		}
		opt = engine.Options{Backends: []plan.Backend{b}}
	}
	if a == Alone || a == Profiled {
		opt.Workers = 1
	}
	cores := threads
	if who.Device != nil {
		cores = 0
	}
	return startIndex(ctx, src, dict, cores, opt)
}

// NewIndexOn makes an index of a source on a backend, which stays open. It takes at most
// the given number of cores, or all of them if that is 0.
func NewIndexOn(ctx context.Context, b plan.Backend, cores int, src *plan.Source, dict workload.Dictionary) (*Index, error) {
	return startIndex(ctx, src, dict, cores, engine.Options{Backends: []plan.Backend{b}})
}

func startIndex(ctx context.Context, src *plan.Source, dict workload.Dictionary, cores int, opt engine.Options) (*Index, error) {
	e, err := engine.New(ctx, opt)
	if err != nil {
		return nil, err
	}
	x, err := e.NewIndex(ctx, src, dict, engine.IndexOptions{})
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return &Index{e: e, x: x, cores: cores}, nil
}

// MatchOptions are the options of a run of conjunctive queries.
type MatchOptions struct {
	Algorithm  plan.Algorithm
	Part       bool        // one query per work-group (PART), else one element per work-item (PARA)
	CountOnly  bool        // no docIDs
	Candidates uint64      // threshold that closes a batch; 0 is the default of the backend
	Stats      *plan.Stats // receives the statistics of a call of Match, unless nil
}

func (o MatchOptions) set(q workload.Query) engine.Query {
	x := EngineQuery(q, workload.And)
	x.CountOnly, x.Override = o.CountOnly, &engine.Override{Algorithm: o.Algorithm, Part: o.Part, Batch: o.Candidates}
	return x
}

// with returns qs with options set. It keeps the result for a repeated call, so that no run
// but the first one measures the copy.
func (x *Index) with(qs []workload.Query, options any, set func(workload.Query) engine.Query) []engine.Query {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(qs) == len(x.asked) && (len(qs) == 0 || &qs[0] == &x.asked[0]) && options == x.options {
		return x.queries
	}
	all := make([]engine.Query, len(qs))
	if len(qs) > 0 { // equal options share one Tuning
		tuning := set(qs[0]).Override
		for i, q := range qs {
			all[i] = set(q)
			all[i].Override = tuning
		}
	}
	x.asked, x.options, x.queries = qs, options, all
	return all
}

// run answers queries. stats receives the statistics of all batches, unless nil. The engine
// runs several batches at a time, each on the threads of its backend; a limit of the
// process's cores bounds them together.
func (x *Index) run(ctx context.Context, qs []engine.Query, stats *plan.Stats, deliver func(first int, hits []Hits) error) error {
	if x.cores > 0 && x.cores < runtime.GOMAXPROCS(0) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(x.cores))
	}
	if stats == nil || len(qs) == 0 {
		return x.x.SearchAll(ctx, qs, deliver)
	}
	var why observe.Explanation
	own := slices.Clone(qs)
	own[0].Explain = &why
	err := x.x.SearchAll(ctx, own, deliver)
	*stats = why.Stats
	return err
}

// Match answers conjunctive queries in batches. deliver receives the answers of a batch and
// the number of its first query; it may run on several goroutines.
func (x *Index) Match(ctx context.Context, qs []workload.Query, opt MatchOptions, deliver func(first int, hits []Hits) error) error {
	stats := opt.Stats
	opt.Stats = nil
	return x.run(ctx, x.with(qs, opt, opt.set), stats, deliver)
}

// MatchOne answers one query.
func (x *Index) MatchOne(ctx context.Context, q workload.Query, opt MatchOptions) ([]uint32, error) {
	h, err := x.x.Search(ctx, opt.set(q))
	return h.Docs, err
}

// RankOptions are the options of a run of ranked queries.
type RankOptions struct {
	Mode         workload.Mode
	K            int
	Accumulators plan.Accumulators
	Postings     uint64       // threshold that closes a batch; 0 is the default of the backend
	Scoring      *bm25.Params // nil: the scoring of the index
	Stats        *plan.Stats  // receives the statistics of a call of Rank, unless nil
}

func (o RankOptions) set(q workload.Query) engine.Query {
	x := EngineQuery(q, o.Mode)
	x.K, x.Scoring, x.Override = o.K, o.Scoring, &engine.Override{Accumulators: o.Accumulators, Batch: o.Postings}
	return x
}

// Rank answers ranked queries in batches, as Match does.
func (x *Index) Rank(ctx context.Context, qs []workload.Query, opt RankOptions, deliver func(first int, hits []Hits) error) error {
	stats := opt.Stats
	opt.Stats = nil
	return x.run(ctx, x.with(qs, opt, opt.set), stats, deliver)
}

// RankOne answers one ranked query.
func (x *Index) RankOne(ctx context.Context, q workload.Query, opt RankOptions) ([]uint32, error) {
	h, err := x.x.Search(ctx, opt.set(q))
	return h.Docs, err
}

// resident describes the lists on the only processor.
func (x *Index) resident() engine.Resident {
	info, err := x.x.Info()
	if err != nil || len(info.Resident) == 0 {
		return engine.Resident{}
	}
	return info.Resident[0]
}

// Threshold is the default number of candidates that closes a batch.
func (x *Index) Threshold() uint64 { return x.resident().Batch }

// Memory is the number of bytes that the backend holds for the index.
func (x *Index) Memory() uint64 { return x.resident().Bytes }

// Close releases the index. The device stays open.
func (x *Index) Close() error { return x.e.Close() }
