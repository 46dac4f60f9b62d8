package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"heddle/engine/plan"
)

// Reload opens the index file at path beside the present one, and answers from it the
// queries that arrive from then on; those that came before are answered from the old one,
// which is closed when they are, and views of it too. On an error the engine goes on with
// the old index.
//
// Where devices have no room for both, the host alone answers from the new index until the
// old one is closed. Without a host among the processors they make do with the room there
// is.
func (e *Engine) Reload(ctx context.Context, path string) error {
	e.changing.Lock()
	defer e.changing.Unlock()
	old := e.now.Load()
	if old == nil {
		return plan.ErrClosed
	}
	g, err := e.loaded(ctx, path, e.processors)
	if err != nil {
		return err
	}
	if !g.crowded || g.resident >= old.resident || !g.processors[0].host {
		e.replace(g)
		return nil
	}
	hosts := slices.DeleteFunc(slices.Clone(e.processors), func(o opened) bool { return !o.host })
	host, err := e.loaded(ctx, path, hosts)
	if closing := g.close(e); err != nil {
		return errors.Join(err, closing)
	}
	e.replace(host)
	if g, err = e.loaded(ctx, path, e.processors); err != nil {
		e.log.Warn().Err(err).Msg("the host answers alone")
		return nil
	}
	e.replace(g)
	return nil
}

// loaded is the index file at path, ready on some of the engine's processors.
func (e *Engine) loaded(ctx context.Context, path string, on []opened) (*generation, error) {
	x, err := mapFile(path, e.opt.Options)
	if err != nil {
		return nil, err
	}
	g, err := e.generation(ctx, x, on)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("loading %s: %w", path, err), x.closeFile())
	}
	return g, nil
}

// replace makes g the generation of queries to come, and ends the one before. That does
// not fail: what cannot be closed is logged.
func (e *Engine) replace(g *generation) {
	if err := e.exchange(g).close(e); err != nil {
		e.log.Warn().Err(err).Msg("the old index is not closed")
	}
}
