package engine

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"heddle/engine/plan"
	"heddle/engine/schedule"
)

// keeps tells whether what was learnt is to be written: to the file that was asked for, or
// over the one beside the index.
func (g *generation) keeps(e *Engine) bool {
	if g.costs == "" || e.opt.Costs != "" {
		return g.costs != ""
	}
	_, err := os.Stat(g.costs)
	return err == nil
}

// close ends the scheduler, keeps what was learnt, and releases stores and file. Nobody
// uses the generation any more, but for batches that the scheduler has given up: with
// schedule.ErrHung what they use is released when they come back.
func (g *generation) close(e *Engine) error {
	err := g.sched.Close()
	now := e.now.Load()
	if g.keeps(e) && g.book.Changed() && (now == nil || now.book != g.book) { // else it goes on
		// Costs are a matter of speed, and an index may lie where nothing can be written.
		if err := g.book.Save(g.costs); err != nil {
			e.log.Warn().Err(err).Msg("costs are not kept")
		}
	}
	hung, errStores := g.release()
	err = errors.Join(err, errStores)
	if len(hung) == 0 {
		return errors.Join(err, g.x.closeFile())
	}
	e.left = append(e.left, hung...)
	e.leaving.Go(func() {
		var err error
		for _, p := range hung {
			err = errors.Join(err, p.close())
		}
		err = errors.Join(err, g.x.closeFile())
		e.log.Warn().Err(err).Str("processor", hung[0].name).Msg("came back, and is closed")
	})
	for _, p := range hung {
		err = errors.Join(err, fmt.Errorf("%s: %w", p.name, schedule.ErrHung))
	}
	return err
}

// release closes the stores. It gives the processors whose stores it cannot close, because
// batches run that have been given up.
func (g *generation) release() (hung []*processor, err error) {
	for _, p := range g.processors {
		if p.idle() {
			err = errors.Join(err, p.close())
		} else {
			hung = append(hung, p)
		}
	}
	return hung, err
}

// idle says whether nothing runs on p.
func (p *processor) idle() bool {
	idle := p.running.TryLock()
	if idle {
		p.running.Unlock()
	}
	return idle
}

// close waits until nothing runs on p, and closes its store.
func (p *processor) close() error {
	p.running.Lock()
	defer p.running.Unlock()
	p.closed = true
	return p.store.Close()
}

// hung says whether a batch that was given up still runs on b: nothing should be asked of
// it then. It is called under e.changing, or by Start.
func (e *Engine) hung(b plan.Backend) bool {
	on := func(p *processor) bool { return slices.Contains(p.on, b) && !p.idle() }
	if g := e.now.Load(); g != nil {
		for i, st := range g.sched.Stats().Processors {
			if errors.Is(st.Out, schedule.ErrHung) && on(g.processors[i]) {
				return true
			}
		}
	}
	return slices.ContainsFunc(e.left, on)
}

// release closes backends, those that hang with all others when they come back.
func (e *Engine) release() error {
	closeAll := func() (err error) {
		for _, p := range e.processors {
			err = errors.Join(err, p.close())
		}
		return err
	}
	if !slices.ContainsFunc(e.left, func(p *processor) bool { return !p.idle() }) {
		e.leaving.Wait()
		return closeAll()
	}
	go func() {
		e.leaving.Wait()
		if err := closeAll(); err != nil {
			e.log.Warn().Err(err).Msg("closing backends")
		}
	}()
	return fmt.Errorf("backends are still open: %w", schedule.ErrHung)
}
