package lists

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"heddle/engine/file/mapped"
	"heddle/engine/index/hdl"
	"heddle/engine/internal/cost"
	"heddle/engine/internal/limit"
	"heddle/engine/internal/placement"
	"heddle/engine/internal/pool"
	"heddle/engine/internal/query"
	"heddle/engine/internal/schedule"
	"heddle/engine/plan"
)

// Generation is the content of an index from one Reload to the next.
type Generation struct {
	*query.Index
	File *hdl.File // nil for lists in memory
	pool.Generation

	x        *Index
	pool     *pool.Pool
	shared   *Shared
	at       []*residence // by processor; nil where there are no lists
	book     *cost.Book
	costs    string    // path of the book, empty: none
	foreign  bool      // the file at costs is not to be replaced
	measured time.Time // when the book was written, zero if it was not
	checksum uint64    // checksum of the file; 0: the lists have no file
	key      uint64    // tells the lists from other lists in the result cache

	tasks sync.Pool // *task

	keysMu sync.Mutex
	keys   map[batchKey]*batchKey

	meanLoad     atomic.Uint64 // docIDs that a query reads: a running mean
	meanPostings atomic.Uint64 // postings of a ranked query: a running mean

	rooted   bool // the file lies below a root, which has no file of costs
	resident int  // sum over devices: 3 for a device with all lists, 2 with a shard, 1 with a cache
	reduced  bool // a device has fewer lists than it would have with more memory
}

// start makes the lists of g resident on processors. After an error nothing is resident.
func (x *Index) start(ctx context.Context, g *Generation, on []*pool.Processor) (err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	g.x, g.pool, g.shared, g.costs, g.key = x, x.Pool, x.shared, x.opt.Costs, x.Pool.Serial()
	g.Limits = *x.Pool.Limits()
	g.keys = make(map[batchKey]*batchKey)
	g.at = make([]*residence, len(x.Pool.Processors()))
	if g.File != nil {
		g.checksum = g.File.Checksum()
		g.key = g.checksum
		if g.costs == "" && !g.rooted {
			g.costs = cost.Path(g.File.Path())
		}
	}
	x.readBook(g)
	if err := g.load(ctx, on); err != nil {
		return errors.Join(err, x.Pool.Retire(g, g.residences(), func() error { return nil }))
	}
	for _, r := range g.at {
		if r != nil {
			r.p.Restore()
			x.Pool.Log().Info().Str("processor", r.p.Name).Uint64("bytes", r.store.Memory()).Str("why", r.Why).Msg("lists resident")
		}
	}
	return nil
}

// load makes the lists resident. Devices that fail have none, unless no processor has them.
func (g *Generation) load(ctx context.Context, on []*pool.Processor) (err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	var devices []*pool.Processor
	var backends []plan.Backend
	for _, p := range on {
		if g.pool.Hung(p) {
			g.pool.Log().Warn().Str("device", p.Name).Msg("hangs: no lists are loaded on it")
			continue
		}
		if !p.Host {
			devices, backends = append(devices, p), append(backends, p.Backend)
			continue
		}
		s, err := p.Backend.Load(ctx, g.Source)
		if err != nil {
			return err
		}
		g.add(placement.Store{Store: s, Info: p.Info}, "the host has them where they are", p)
	}
	if len(devices) == 0 && g.any() != nil {
		return nil
	}
	if g.File != nil && len(devices) > 0 {
		if err := g.File.CheckLists(); err != nil {
			return err
		}
	}
	opt := &g.x.opt
	where, err := placement.Place(ctx, g.Source, backends, placement.Options{How: opt.Placement, Memory: opt.DeviceMemory, Ranked: g.Source.Freqs != nil})
	if err != nil {
		return err
	}
	host := g.any()
	for _, s := range where.Stores {
		var on []*pool.Processor
		for _, i := range s.Devices {
			on = append(on, devices[i])
		}
		if s.Cached != nil && host != nil {
			s.Store = placement.NewOverflow(s.Cached, host.store, g.Source.Docs)
		}
		g.add(s, where.Reason, on...)
		g.resident += len(s.Devices) * map[placement.How]int{placement.Replicas: 3, placement.Shards: 2, placement.Cache: 1}[s.How]
		g.reduced = g.reduced || s.How != placement.Replicas && opt.Placement == placement.Auto
	}
	for _, l := range where.Left {
		g.pool.Log().Warn().Err(l.Err).Str("device", l.Device).Msg("lists are not on this device")
		err = errors.Join(err, l.Err)
		g.reduced = g.reduced || errors.Is(l.Err, plan.ErrOutOfMemory)
	}
	if g.any() == nil {
		return errors.Join(schedule.ErrNoProcessor, err)
	}
	return nil
}

// Checksum returns the checksum of the file, 0 without one.
func (g *Generation) Checksum() uint64 { return g.checksum }

// any returns the residence on the first processor that has the lists; nil if none has.
func (g *Generation) any() *residence {
	for _, r := range g.at {
		if r != nil {
			return r
		}
	}
	return nil
}

func (g *Generation) residences() (all []*pool.Residence) {
	for _, r := range g.at {
		if r != nil {
			all = append(all, &r.Residence)
		}
	}
	return all
}

// Retire implements pool.Content: it keeps the costs that were learnt and releases stores and file.
func (g *Generation) Retire() error {
	now := g.x.Current()
	if g.keepsCosts() && g.book.Changed() && (now == nil || now.book != g.book) { // else it stays in use
		// Costs concern speed alone, and an index may lie in a folder that is read-only.
		if err := g.book.Save(g.costs); err != nil {
			g.pool.Log().Warn().Err(err).Msg("costs are not kept")
		}
	}
	return g.pool.Retire(g, g.residences(), g.closeFile)
}

func (g *Generation) closeFile() error {
	if g.File == nil {
		return nil
	}
	return g.File.Close()
}

// Until returns the end of the time of a call that begins now.
func (g *Generation) Until(ctx context.Context, call *pool.Call) limit.Until {
	return g.pool.Until(ctx, call)
}

// Bounded returns a context that ends with the time of a call, for all its steps together.
func (g *Generation) Bounded(ctx context.Context, call *pool.Call) (context.Context, context.CancelFunc) {
	at := g.Until(ctx, call).Deadline
	if at.IsZero() {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, at)
}
