package engine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"heddle/engine/internal/cost"
	"heddle/engine/plan"
	"heddle/engine/schedule"
)

// open opens the processors of an engine. Those that do not open are left out, unless
// none does.
func (opt *EngineOptions) open(ctx context.Context, log zerolog.Logger) ([]opened, error) {
	var list []candidate
	for _, b := range opt.Backends {
		list = append(list, keptCandidate(b))
	}
	if list == nil {
		var err error
		if list, err = opt.processors(log); err != nil {
			return nil, err
		}
	}
	all, left, err := openAll(ctx, list, log)
	if err == nil && len(all) == 0 {
		for _, l := range left {
			err = errors.Join(err, l.Err)
		}
	}
	return all, err
}

// generation is an index as an engine serves it, from one Reload to the next.
type generation struct {
	x          *Index // not resident by itself
	processors []*processor
	names      []string // of the processors
	sched      *schedule.Scheduler
	book       *cost.Book
	costs      string    // path of the book, empty: none
	measured   time.Time // when it was written, zero if it was not
	checksum   uint64    // of the file, 0 without
	key        uint64    // of the index in the cache of answers
	users      users
	company    company

	resident int  // devices that have lists: 3 for all of them, 2 for a shard, 1 for a cache
	crowded  bool // some have not more for lack of memory
}

// generation makes the lists of x resident on processors and readies them. On an error
// nothing is left of it; x stays open.
func (e *Engine) generation(ctx context.Context, x *Index, on []opened) (*generation, error) {
	g := &generation{x: x, costs: e.opt.Costs, key: e.serial.Add(1)}
	if x.file != nil {
		g.checksum = x.file.Checksum()
		g.key = g.checksum
		if g.costs == "" {
			g.costs = CostsPath(x.file.Path())
		}
	}
	if err := e.readBook(g); err != nil {
		return nil, err
	}
	if err := g.load(ctx, e, on); err != nil {
		_, closing := g.release()
		return nil, errors.Join(err, closing)
	}
	list := make([]schedule.Processor, len(g.processors))
	for i, p := range g.processors {
		list[i] = p.scheduled()
		e.log.Info().Str("processor", p.name).Uint64("bytes", p.store.Memory()).Str("why", p.why).Msg("lists resident")
	}
	// The index tells of itself what its first processor does.
	x.active.Store(&running[plan.Store]{store: g.processors[0].store, info: plan.Info{Kind: "all", Device: strings.Join(g.names, " + ")}})
	opt := e.opt.Schedule
	opt.Event = func(v schedule.Event) {
		if i := slices.Index(g.names, v.Processor); i >= 0 {
			g.processors[i].out.Store(true)
		}
		e.happened(v)
	}
	var err error
	if g.sched, err = schedule.New(opt, list...); err != nil {
		_, closing := g.release()
		return nil, errors.Join(err, closing)
	}
	return g, nil
}

// load makes the lists resident. Devices without them are left out, unless no processor
// has them.
func (g *generation) load(ctx context.Context, e *Engine, on []opened) error {
	var devices []plan.Backend
	for _, o := range on {
		if e.hung(o.backend) {
			e.log.Warn().Str("device", o.name).Msg("hangs: no lists are loaded on it")
			continue
		}
		if !o.host {
			devices = append(devices, o.backend)
			continue
		}
		s, err := o.backend.Load(ctx, g.x.src)
		if err != nil {
			return err
		}
		g.add(e, placedStore{Store: s, Info: o.info}, "the host has them where they are", o.backend)
	}
	if len(devices) == 0 && len(g.processors) > 0 {
		return nil
	}
	where, err := place(ctx, g.x.src, devices, placeOptions{Placement: e.opt.Placement, Memory: e.opt.DeviceMemory, Ranked: g.x.src.Freqs != nil})
	if err != nil {
		return err
	}
	for _, s := range where.Stores {
		var on []plan.Backend
		for _, i := range s.Devices {
			on = append(on, devices[i])
		}
		if i := slices.IndexFunc(g.processors, func(p *processor) bool { return p.host }); s.Cached != nil && i >= 0 {
			s.Store = newOverflow(s.Cached, g.processors[i].store)
		}
		g.add(e, s, where.Reason, on...)
		g.resident += len(s.Devices) * map[Placement]int{PlaceReplicas: 3, PlaceShards: 2, PlaceCache: 1}[s.How]
		g.crowded = g.crowded || s.How != PlaceReplicas && e.opt.Placement == PlaceAuto
	}
	for _, l := range where.Left {
		e.log.Warn().Err(l.Err).Str("device", l.Device).Msg("lists are not on this device")
		err = errors.Join(err, l.Err)
		g.crowded = g.crowded || errors.Is(l.Err, plan.ErrOutOfMemory)
	}
	if len(g.processors) == 0 {
		return errors.Join(schedule.ErrNoProcessor, err)
	}
	return nil
}

// happened logs an event and tells the observer.
func (e *Engine) happened(v schedule.Event) {
	switch {
	case v.Processor != "":
		e.log.Error().Err(v.Err).Str("processor", v.Processor).Msg("processor taken out")
	default:
		e.log.Debug().Stringer("mode", v.Mode).Float64("load", v.Load).Msg("mode changed")
	}
	if e.opt.Observer != nil {
		e.opt.Observer.Happened(eventOf(v))
	}
	if e.opt.Schedule.Event != nil {
		e.opt.Schedule.Event(v)
	}
}

// readBook finds the cost model of the generation: that of the one before if it is of the
// same index, and no other has been written since.
func (e *Engine) readBook(g *generation) (err error) {
	if g.costs != "" {
		if info, err := os.Stat(g.costs); err == nil {
			g.measured = info.ModTime()
		}
		if old := e.now.Load(); old != nil && old.costs == g.costs && old.checksum == g.checksum && old.measured.Equal(g.measured) {
			g.book = old.book
			return nil
		}
		g.book, err = cost.Load(g.costs, g.checksum, e.opt.Metric)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, fs.ErrNotExist):
		case other(err) && e.opt.Costs == "":
			e.log.Warn().Err(err).Msg("costs are measured anew")
		default:
			return err
		}
	}
	g.book = cost.NewBook(g.checksum, e.opt.Metric)
	return nil
}

func other(err error) bool {
	_, ok := errors.AsType[*cost.OtherIndexError](err)
	return ok
}
