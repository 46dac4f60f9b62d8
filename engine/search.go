package engine

import (
	"context"
	"errors"
	"os"
	"time"

	"heddle/engine/failure"
	"heddle/engine/file/mapped"
	"heddle/engine/internal/calibrate"
	"heddle/engine/internal/cost"
	"heddle/engine/internal/handle"
	"heddle/engine/internal/lists"
	"heddle/engine/internal/pool"
	"heddle/engine/internal/query"
	"heddle/engine/observe"
	"heddle/engine/plan"
)

// IndexOptions rule an index. The zero value is the default.
type IndexOptions struct {
	// Costs is the file of the cost models. Default: Options.Costs, else the index file with
	// ".cost" appended, if it exists. A file that is damaged, of another index or no regular
	// file causes a warning, and costs are measured anew. A file that another open index of the
	// engine names is refused with code InvalidOption.
	Costs string
	// Trusted opens files without a check of their checksums.
	Trusted bool
	// Root is the folder of the file: OpenIndex opens the path by it alone, so that no path and no symbolic
	// link leaves the folder. It stays open while the index uses the file. Such an index has no file of costs
	// beside it. Default: nil, the file system.
	Root *os.Root
}

// Dictionary finds the list of a term. hdl.File and hdl.Dictionary implement it. Lookup must be
// safe for concurrent use and should not allocate.
type Dictionary interface {
	Lookup(term string) (plan.Handle, bool)
}

// OpenIndex maps the index file at path, validates it and makes its lists resident on the
// processors of the engine. Errors: codes NotFound, Corrupt, OutOfMemory, Closed.
func (e *Engine) OpenIndex(ctx context.Context, path string, opt IndexOptions) (*Index, error) {
	x, err := e.lists.Open(ctx, path, e.index(&opt))
	if err != nil {
		return nil, failure.Wrap("open index", err)
	}
	return &Index{handle.New(x)}, nil
}

// NewIndex makes an index of lists in memory. dict must name lists of src; both must stay valid
// and unchanged until Close. Query texts are split at white space. Errors: code InvalidOption for
// lists that are not valid, and the codes of OpenIndex.
func (e *Engine) NewIndex(ctx context.Context, src *plan.Source, dict Dictionary, opt IndexOptions) (*Index, error) {
	if src == nil || dict == nil {
		return nil, failure.Invalid("new index", errors.New("the source or the dictionary is nil"))
	}
	if err := src.Validate(); err != nil {
		return nil, failure.Invalid("new index", err)
	}
	x, err := e.lists.New(ctx, src, query.Dictionary(dict), e.index(&opt))
	if err != nil {
		return nil, failure.Wrap("new index", err)
	}
	return &Index{handle.New(x)}, nil
}

func (e *Engine) index(opt *IndexOptions) lists.Options {
	o := &e.opt
	costs := opt.Costs
	if costs == "" {
		costs = o.Costs
	}
	return lists.Options{
		Algorithm: o.Algorithm, Accumulators: o.Accumulators, BatchCandidates: o.BatchCandidates, BatchPostings: o.BatchPostings, Blocks: o.Blocks,
		Placement: e.parsed.placement, DeviceMemory: o.DeviceMemory, Metric: e.parsed.metric, Costs: costs, Trusted: opt.Trusted, Root: opt.Root,
	}
}

// Search answers one query. The caller owns the slices of the answer.
//
// Scores come from integer arithmetic (package bm25), so they are the same on every
// processor. For queries of up to 200 terms they differ from BM25 in real numbers by less
// than 2^-20 of the sum of the weights.
//
// Errors: codes InvalidQuery, Unsupported (no frequencies, an algorithm that no processor
// has), Overloaded, Deadline, Canceled, NoDevice, Closed.
func (x *Index) Search(ctx context.Context, q Query) (Hits, error) {
	shard := pool.Shard()
	g, err := x.Internal().AcquireOn(shard)
	if err != nil {
		return Hits{}, failure.Wrap("search", err)
	}
	defer g.ReleaseOn(shard)
	return search(ctx, g, &q)
}

// SearchAll answers many queries in batches and passes the answers of consecutive queries
// to deliver: hits[i] is the answer of query first+i. Several goroutines call deliver at the
// same time, with disjoint ranges and in no order. The hits are views that are valid during
// the call: their docIDs may lie where a device wrote them. A call holds a bounded number of
// answers, so a slow deliver slows it down. SearchAll stops at the first error, an error of
// deliver included; it names the index of a query at fault. A query that is invalid in itself
// does not stop it: deliver receives Hits.Err, and SearchAll returns the first such error when
// all queries are answered. A steady state allocates nothing per query.
//
// Queries may differ in kind and options: queries of one kind form batches. Caller, Timeout
// and Explain of the first query hold for the whole call. The result cache is not used.
func (x *Index) SearchAll(ctx context.Context, qs []Query, deliver func(first int, hits []Hits) error) error {
	g, err := x.Internal().Acquire()
	if err != nil {
		return failure.Wrap("search", err)
	}
	defer g.Release()
	return searchAll(ctx, g, qs, deliver)
}

// Reload opens the index file at path beside the current one and answers all queries that
// arrive from then on from it. It returns when all earlier queries and snapshots have ended
// and the old file is closed. It compares all checksums of the new file (code Corrupt), which
// opening leaves to the first use of each block. After an error the old file stays in use.
//
// If a device has no room for both files, pure Go alone answers from the new file until the old
// file is closed. Without pure Go the new lists take the memory that is free.
//
// On CPU devices the C library may keep memory that the driver has freed. With PoCL, 2,400
// reloads of a small index made a process grow from 125 to 160 MB under the defaults of glibc,
// from 122 to 127 MB with the environment variable MALLOC_ARENA_MAX=2, and not at all (100 MB)
// with MALLOC_TRIM_THRESHOLD_=131072. Set one of them for a service that reloads often.
func (x *Index) Reload(ctx context.Context, path string) error { return x.ReloadIn(ctx, nil, path) }

// ReloadIn is Reload with a path below root: see IndexOptions.Root.
func (x *Index) ReloadIn(ctx context.Context, root *os.Root, path string) error {
	return failure.Wrap("reload index", x.Internal().Reload(ctx, root, path))
}

// Close refuses further queries with code Closed, waits for running ones and for snapshots,
// writes learnt costs and releases the lists and the file. A second Close returns code
// Closed.
func (x *Index) Close() error { return failure.Wrap("close index", x.Internal().Close()) }

// Snapshot pins the current content of the index: its answers, and the names and texts of
// its documents, belong to one file whatever Reload does. The caller closes it soon, since
// Reload and Close wait for it.
func (x *Index) Snapshot() (*Snapshot, error) {
	g, err := x.Internal().Acquire()
	if err != nil {
		return nil, failure.Wrap("snapshot", err)
	}
	return &Snapshot{g: g}, nil
}

// Statistics returns the statistics of the index, with the document frequencies of terms; 0
// for a term that no document has.
func (x *Index) Statistics(terms ...string) (s Statistics, err error) {
	defer failure.Catch("statistics", &err)
	defer mapped.Catch(mapped.Watch(), &err)
	g, err := x.Internal().Acquire()
	if err != nil {
		return Statistics{}, failure.Wrap("statistics", err)
	}
	defer g.Release()
	return Statistics(g.Statistics(terms...)), nil
}

// Info describes the index.
func (x *Index) Info() (IndexInfo, error) {
	s, err := x.Snapshot()
	if err != nil {
		return IndexInfo{}, err
	}
	defer s.Close()
	return s.Info(), nil
}

// CalibrateOptions rule Calibrate. The zero value is the default.
type CalibrateOptions struct {
	// Queries to run; their options are ignored. Default: queries of one to six terms drawn
	// from the index, with lists of every length.
	Queries []Query
	// Kinds of queries to fit, by the names of Explanation.Kind. Default: all that the index
	// can answer.
	Kinds []string
	// K is the number of documents of ranked queries. Default: 10.
	K int
	// Time of the queries of a kind on a processor, one by one and then as long in batches. A
	// pass that takes longer leaves queries out. Default: 2 s.
	Time time.Duration
	// Progress receives the next processor and kind. Default: nil, none.
	Progress func(processor, kind string)
}

// Calibrate runs queries on every processor, alone and in batches, and fits the models that
// the scheduler uses. It writes them to the file of costs, if there is one. It needs the
// processors for itself: the work of other calls counts as costs.
func (x *Index) Calibrate(ctx context.Context, opt CalibrateOptions) (all []observe.KindCosts, err error) {
	defer failure.Catch("calibrate", &err)
	defer mapped.Catch(mapped.Watch(), &err)
	g, err := x.Internal().Acquire()
	if err != nil {
		return nil, failure.Wrap("calibrate", err)
	}
	defer g.Release()
	in := calibrate.Options{K: opt.K, Time: opt.Time, Progress: opt.Progress}
	if opt.Queries != nil {
		in.Queries = make([]query.Query, len(opt.Queries))
		for i := range opt.Queries {
			opt.Queries[i].internal(&in.Queries[i])
		}
	}
	for _, name := range opt.Kinds {
		k, err := cost.ParseKind(name)
		if err != nil {
			return nil, failure.Invalid("calibrate", err)
		}
		in.Kinds = append(in.Kinds, k)
	}
	all, err = calibrate.Run(ctx, g, in)
	return all, failure.Wrap("calibrate", err)
}
