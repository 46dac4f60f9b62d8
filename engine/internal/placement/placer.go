package placement

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"heddle/engine/file/mapped"
	"heddle/engine/internal/shard"
	"heddle/engine/plan"
)

// placer holds the state of a call of Place.
type placer struct {
	src     *plan.Source
	devices []plan.Backend
	opt     Options
	stores  []Store
	idle    []int   // devices without lists that may still get lists
	errs    []error // by device: the reasons for having no lists
}

// replicas loads all lists on each idle device.
func (p *placer) replicas(ctx context.Context) {
	p.each(Replicas, func(b plan.Backend) (plan.Store, error) {
		return p.loaded(ctx, func() (plan.Store, error) { return b.Load(ctx, p.src) })
	})
}

// caches makes a list cache on each idle device.
func (p *placer) caches(ctx context.Context) {
	p.each(Cache, func(b plan.Backend) (plan.Store, error) {
		c, ok := b.(plan.CachingBackend)
		if !ok {
			return nil, &plan.DeviceError{Kind: plan.ErrNoDevice, Device: b.Info().Device, Op: "making a list cache", Err: errors.New("its backend has none")}
		}
		return c.LoadCached(ctx, p.src, p.opt.Memory)
	})
}

// each makes a store on every idle device, all at the same time. Devices that run out of
// memory stay idle.
func (p *placer) each(how How, load func(b plan.Backend) (plan.Store, error)) {
	stores, errs := make([]plan.Store, len(p.idle)), make([]error, len(p.idle))
	var wg sync.WaitGroup
	for n, i := range p.idle {
		wg.Go(func() {
			defer mapped.Catch(mapped.Watch(), &errs[n])
			stores[n], errs[n] = load(p.devices[i])
		})
	}
	wg.Wait()
	tried := p.idle
	p.idle = nil
	for n, i := range tried {
		if p.failed(i, errs[n]) {
			continue
		}
		s := Store{Store: stores[n], How: how, Devices: []int{i}, Info: p.devices[i].Info()}
		s.Cached, _ = stores[n].(plan.CachedStore)
		p.stores = append(p.stores, s)
	}
}

// failed records the error of device i. It returns whether there is one.
func (p *placer) failed(i int, err error) bool {
	if err == nil {
		return false
	}
	if p.errs[i] = errors.Join(p.errs[i], err); errors.Is(err, plan.ErrOutOfMemory) {
		p.idle = append(p.idle, i)
	}
	return true
}

// loaded calls load, and loads the data for ranking if the options ask for it.
func (p *placer) loaded(ctx context.Context, load func() (plan.Store, error)) (plan.Store, error) {
	s, err := load()
	if err != nil || !p.opt.Ranked {
		return s, err
	}
	if err := p.warm(ctx, s); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// warm ranks the longest list, of which most shards have a part.
func (p *placer) warm(ctx context.Context, s plan.Store) error {
	r := plan.RankBatch{K: 1, Norm: plan.Norm{Impacts: p.src.Impacts}}
	longest := plan.Handle(0)
	for h, l := range p.src.Lists {
		if l.Len > p.src.Lists[longest].Len {
			longest = plan.Handle(h)
		}
	}
	if len(p.src.Lists) == 0 || r.Validate(p.src) != nil { // cannot be ranked
		return nil
	}
	r.Add(p.src, plan.Term{List: longest, Weight: 1})
	return s.Rank(ctx, &r, new(plan.TopK))
}

// shards loads a range of the documents on each idle device. If devices fail, it divides the
// documents again among the rest, as long as there are two.
func (p *placer) shards(ctx context.Context) {
	over, small := p.worthwhile(), []int(nil)
	for len(over) > 0 && (len(over) > 1 || p.opt.How == Shards) && ctx.Err() == nil {
		backends := make([]plan.Backend, len(over))
		for n, i := range over {
			backends[n] = p.devices[i]
		}
		s, err := p.loaded(ctx, func() (plan.Store, error) { return shard.Load(ctx, p.src, backends) })
		if err == nil {
			p.stores = append(p.stores, Store{Store: s, How: Shards, Devices: over, Info: together(backends)})
			p.idle = slices.DeleteFunc(p.idle, func(i int) bool { return slices.Contains(over, i) })
			return
		}
		parts := partErrors(err)
		if len(parts) == 0 { // an error of the lists themselves
			for _, i := range over {
				p.errs[i] = errors.Join(p.errs[i], err)
			}
			break
		}
		for _, e := range parts {
			i := over[e.Part]
			p.idle = slices.DeleteFunc(p.idle, func(x int) bool { return x == i })
			p.failed(i, e.Err)
			small = append(small, i)
		}
		over = slices.DeleteFunc(over, func(i int) bool { return slices.Contains(small, i) })
	}
}

// worthwhile returns the idle devices that have room for an equal part of the lists.
func (p *placer) worthwhile() []int {
	over := slices.Clone(p.idle)
	words, freqs := p.src.Used()
	need := 4 * words
	if p.opt.Ranked {
		need += 4 * (freqs + uint64(len(p.src.Lengths)))
	}
	for len(over) > 1 {
		least := slices.MinFunc(over, func(a, b int) int { return cmp.Compare(p.room(a), p.room(b)) })
		share := need / uint64(len(over))
		if p.room(least) >= share {
			break
		}
		p.errs[least] = errors.Join(p.errs[least], &plan.DeviceError{Kind: plan.ErrOutOfMemory, Device: p.devices[least].Info().Device, Op: "sharding lists",
			Err: fmt.Errorf("an equal part has %d bytes, there is room for %d", share, p.room(least))})
		over = slices.DeleteFunc(over, func(i int) bool { return i == least })
	}
	return over
}

// room returns the memory of device i, in bytes.
func (p *placer) room(i int) uint64 {
	room := uint64(math.MaxUint64) // if nothing is known
	for _, limit := range []uint64{p.devices[i].Info().Memory, p.opt.Memory} {
		if limit > 0 {
			room = min(room, limit)
		}
	}
	return room
}

// partErrors returns the errors of parts in err.
func partErrors(err error) (parts []*shard.PartError) {
	switch e := err.(type) {
	case *shard.PartError:
		return []*shard.PartError{e}
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			parts = append(parts, partErrors(err)...)
		}
	}
	return parts
}
