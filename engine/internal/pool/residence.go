package pool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"heddle/engine/file/mapped"
	"heddle/engine/internal/schedule"
	"heddle/engine/plan"
)

// Residence is a store of lists or of a table on a processor. It is safe for concurrent use.
type Residence struct {
	On    []*Processor // the first one runs the jobs; shards lie on all of them
	Store interface {
		Memory() uint64
		Close() error
	}
	Why    string           // why the lists lie there
	Cached plan.CachedStore // Store, if it loads lists on demand; else nil
	// Probe runs a short query on the store and compares its answer with the known one.
	Probe func(ctx context.Context) error

	mu     sync.RWMutex // held for reading by batches
	closed bool
}

// Enter begins a batch on the store. It returns false if the store is closed; otherwise Leave
// ends the batch.
func (r *Residence) Enter() bool {
	r.mu.RLock()
	if r.closed {
		r.mu.RUnlock()
		return false
	}
	return true
}

// probed runs Probe unless the store is closed.
func (r *Residence) probed(ctx context.Context) (err error) {
	if !r.Enter() {
		return nil
	}
	defer r.Leave()
	defer mapped.Catch(mapped.Watch(), &err)
	return r.Probe(ctx)
}

// Leave ends a batch.
func (r *Residence) Leave() { r.mu.RUnlock() }

// idle tells whether no batch runs on the store.
func (r *Residence) idle() bool {
	idle := r.mu.TryLock()
	if idle {
		r.mu.Unlock()
	}
	return idle
}

// close waits for batches and closes the store.
func (r *Residence) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return r.Store.Close()
}

// Hold registers an open store.
func (p *Pool) Hold(r *Residence) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stores = append(p.stores, r)
}

func (p *Pool) drop(r *Residence) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.stores, r); i >= 0 {
		p.stores = slices.Delete(p.stores, i, i+1)
	}
}

// on returns the stores whose jobs processor r runs.
func (p *Pool) on(r *Processor) (all []*Residence) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.stores {
		if s.On[0] == r {
			all = append(all, s)
		}
	}
	return all
}

// Hung tells whether processor r was removed and a batch still runs there past its limit.
// Nothing should be loaded there.
func (p *Pool) Hung(r *Processor) bool { return r.Removed() && p.hangs(r) }

// hangs tells whether a batch on processor r is past its limit.
func (p *Pool) hangs(r *Processor) bool {
	if !p.sched.Stats().Processors[r.Index].Hung {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.stores, func(s *Residence) bool { return slices.Contains(s.On, r) && !s.idle() })
}

// settled waits for the batches on a store, which may run although their queries were
// cancelled. It returns false if one of them hangs.
func (p *Pool) settled(r *Residence) bool {
	for wait := 50 * time.Microsecond; !r.idle(); wait = min(2*wait, 10*time.Millisecond) {
		if slices.ContainsFunc(r.On, p.hangs) {
			return false
		}
		time.Sleep(wait)
	}
	return true
}

// Retire closes the stores of a generation that no query uses any more, then calls after. A store with a
// batch that was given up is closed when the batch returns, and so is all that after closes; the
// error is schedule.ErrHung then.
func (p *Pool) Retire(generation any, stores []*Residence, after func() error) (err error) {
	for _, f := range p.retiring {
		f(generation)
	}
	defer p.sched.Forget() // kinds refer to the whole generation
	var hung []*Residence
	for _, r := range stores {
		if !p.settled(r) {
			hung = append(hung, r)
			continue
		}
		err = errors.Join(err, r.close())
		p.drop(r)
	}
	if len(hung) == 0 {
		return errors.Join(err, after())
	}
	p.leaving.Go(func() {
		var err error
		for _, r := range hung {
			err = errors.Join(err, r.close())
			p.drop(r)
		}
		err = errors.Join(err, after())
		p.sched.Forget()
		p.opt.Log.Warn().Err(err).Str("processor", hung[0].On[0].Name).Msg("processor returned, its stores are closed")
	})
	for _, r := range hung {
		err = errors.Join(err, fmt.Errorf("%s: %w", r.On[0].Name, schedule.ErrHung))
	}
	return err
}

// Idle tells whether no batch runs on any store.
func (p *Pool) Idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !slices.ContainsFunc(p.stores, func(r *Residence) bool { return !r.idle() })
}
