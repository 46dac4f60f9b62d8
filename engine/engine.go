package engine

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"heddle/engine/internal/cost"
	"heddle/engine/internal/resultcache"
	"heddle/engine/observe"
	"heddle/engine/plan"
	"heddle/engine/schedule"
)

// EngineOptions say where an Engine runs and how it schedules. The zero value takes the
// host and every device that is worth it, and moves between the modes by load.
type EngineOptions struct {
	// Options of the processors. Backend "auto" is the host and the devices that it would
	// choose, "host" the host alone, "opencl" devices alone. On is not for engines.
	Options
	// Backends are open already and take the place of discovery; what concerns the making
	// of backends in Options has no effect then. The caller closes them after the engine.
	Backends []plan.Backend
	// Schedule sets modes, queue and deadlines.
	Schedule schedule.Options
	// Timeout fails queries that take longer, with schedule.ErrDeadline; 0 is no limit but
	// that of their context.
	Timeout time.Duration
	// Blocks is B of the computational threshold S·T·B of Wu et al. 2010, section V.B.1,
	// with S the compute units of the processor and T = 256; 0 takes what the processor
	// likes best (Options.BatchCandidates).
	Blocks int
	// Placement says how lists lie on several devices, or on those that are too small.
	Placement Placement
	// Results bounds the cache of answers, in bytes; 0 is none.
	Results uint64
	// Costs is the file of the cost model, read by Start and Reload, and written by Close
	// with what was learnt. Empty is the one beside the index (CostsPath), if heddle
	// calibrate or Calibrate has made it; without one, what is learnt ends with the engine.
	Costs string
	// Metric is what run times are predicted from; the zero value is whichever is best.
	Metric cost.Metric
	// Observer hears of every query; nil hears nothing.
	Observer observe.Observer
}

// CostsPath is where the cost model of an index file lies unless told otherwise.
func CostsPath(index string) string { return index + ".cost" }

// Call says for whom one query runs, and how. The zero value is good.
type Call struct {
	Caller string        // callers share the processors evenly
	Mode   schedule.Mode // forces one
	// Timeout takes the place of EngineOptions.Timeout; negative is none.
	Timeout time.Duration
	// Fresh leaves the cache of answers out.
	Fresh bool
	// Explain is told what became of the query, if not nil.
	Explain *observe.Explanation
}

// Engine answers queries on one index with every processor there is, under any load: one
// at a time where they are few, in batches where they are many (package schedule). It is
// safe for concurrent use.
//
// Errors beside those of Index: schedule.ErrFull when too many queries wait,
// schedule.ErrDeadline, schedule.ErrNoProcessor when every processor has failed.
type Engine struct {
	opt EngineOptions
	log zerolog.Logger

	processors []opened
	serial     atomic.Uint64 // of generations
	results    *resultcache.Cache[*cachedAnswer]

	now      atomic.Pointer[generation] // nil once closed
	changing sync.Mutex                 // held by Reload and Close

	left    []*processor   // of former generations, that hung then
	leaving sync.WaitGroup // what closes them
}

// Start opens the index file at path on the processors that opt chooses. The caller
// closes the engine.
func Start(ctx context.Context, path string, opt EngineOptions) (*Engine, error) {
	return startEngine(ctx, opt, func() (*Index, error) { return mapFile(path, opt.Options) })
}

// StartSource is Start for lists in memory: see New.
func StartSource(ctx context.Context, src *plan.Source, dict Dictionary, opt EngineOptions) (*Engine, error) {
	return startEngine(ctx, opt, func() (*Index, error) { return prepared(&Index{src: src, dict: dict, opt: opt.Options}) })
}

func startEngine(ctx context.Context, opt EngineOptions, open func() (*Index, error)) (*Engine, error) {
	if opt.On != nil {
		return nil, errors.New("engine: an engine opens its own backends")
	}
	e := &Engine{opt: opt, log: opt.logger()}
	x, err := open() // before devices, which take longer
	if err != nil {
		return nil, err
	}
	if opt.Results > 0 { // nil keeps nothing
		e.results = resultcache.New[*cachedAnswer](opt.Results)
	}
	if e.processors, err = e.opt.open(ctx, e.log); err == nil {
		var g *generation
		g, err = e.generation(ctx, x, e.processors)
		e.now.Store(g)
	}
	if err != nil {
		return nil, errors.Join(err, x.closeFile(), e.release())
	}
	return e, nil
}

// View is the index as an engine has it at a moment: what it answers, and the names and
// texts of its documents, are of one index whatever Reload does meanwhile. The zero View
// is of no use.
type View struct {
	e     *Engine
	g     *generation
	count int // of g.users
}

// Index has dictionary, documents, and what Explain says of lists on the first processor.
// It must not be searched or closed itself.
func (v View) Index() *Index { return v.g.x }

// Search answers one query. The answer's memory is the caller's.
func (v View) Search(ctx context.Context, q Query, opt SearchOptions, call Call) (Answer, error) {
	t := v.g.newTask()
	if err := t.search(q, opt); err != nil {
		t.done(nil)
		return Answer{}, err
	}
	if err := t.run(ctx, v.e, call); err != nil {
		t.done(err)
		return Answer{}, err
	}
	a := Answer{Count: t.count, Docs: t.docs, Stats: t.stats}
	t.done(nil)
	return a, nil
}

// Rank gives the K best documents for one query, as Index.Rank does.
func (v View) Rank(ctx context.Context, q Query, opt RankOptions, call Call) (Ranking, error) {
	s, err := v.g.x.scorer(opt)
	if err != nil {
		return Ranking{}, err
	}
	t := v.g.newTask()
	if err := t.rank(q, &s); err != nil {
		t.done(nil)
		return Ranking{}, err
	}
	if err := t.run(ctx, v.e, call); err != nil {
		t.done(err)
		return Ranking{}, err
	}
	r := Ranking{t.docs, t.scores, t.stats}
	t.done(nil)
	return r, nil
}

// Search is View.Search of the present index.
func (e *Engine) Search(ctx context.Context, q Query, opt SearchOptions, call Call) (Answer, error) {
	v, err := e.View()
	if err != nil {
		return Answer{}, err
	}
	defer v.Close()
	return v.Search(ctx, q, opt, call)
}

// Rank is View.Rank of the present index.
func (e *Engine) Rank(ctx context.Context, q Query, opt RankOptions, call Call) (Ranking, error) {
	v, err := e.View()
	if err != nil {
		return Ranking{}, err
	}
	defer v.Close()
	return v.Rank(ctx, q, opt, call)
}

// Close refuses further queries with plan.ErrClosed, lets those under way end, writes
// the cost model and releases everything. A second Close gives plan.ErrClosed. Where a
// device does not come back the error is schedule.ErrHung too: it keeps its memory, the
// goroutines that wait for it, the index file and all backends until it does.
func (e *Engine) Close() error {
	e.changing.Lock()
	defer e.changing.Unlock()
	if e.now.Load() == nil {
		return plan.ErrClosed
	}
	err := e.exchange(nil).close(e)
	return errors.Join(err, e.release())
}
