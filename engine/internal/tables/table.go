package tables

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"heddle/engine/internal/serve"
	"heddle/engine/plan"
)

// Options rule a table.
type Options struct {
	Trusted bool     // skips the checksums of files
	Root    *os.Root // folder of the file; nil is the file system
}

// Table answers selections, from generation to generation. It is safe for concurrent use.
type Table struct {
	pool     *serve.Pool
	opt      Options
	current  serve.Current[Generation, *Generation]
	changing sync.Mutex // held by Reload and Close
}

// OpenTable opens the table file at path on the processors of a pool. Errors:
// hdb.ErrCorrupt for a damaged file, plan.ErrOutOfMemory where no processor has room.
func OpenTable(ctx context.Context, pool *serve.Pool, path string, opt Options) (*Table, error) {
	d, err := Open(opt.Root, path, opt.Trusted)
	if err != nil {
		return nil, err
	}
	return NewTable(ctx, pool, d, opt)
}

// NewTable makes a table resident on the processors of a pool. It closes d after an error.
func NewTable(ctx context.Context, pool *serve.Pool, d *Data, opt Options) (*Table, error) {
	done, err := pool.Use()
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	defer done()
	t := &Table{pool: pool, opt: opt}
	g := t.generation(d)
	if err := g.start(ctx, pool.Processors()); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	t.current.Exchange(g)
	pool.Own(t)
	return t, nil
}

// errClosed is the error of calls on a closed table.
var errClosed = fmt.Errorf("the table is %w", plan.ErrClosed)

// Acquire returns the current generation, which stays open until its Release, or
// plan.ErrClosed.
func (t *Table) Acquire() (*Generation, error) {
	if g := t.current.Acquire(); g != nil {
		return g, nil
	}
	return nil, errClosed
}

// Reload opens the table file at path, below root unless it is nil, beside the current one and answers from it all
// selections that arrive from then on. It returns when the earlier selections have ended
// and the old file is closed. It compares all checksums of the new file. After an error the
// old file stays in use. Processors without
// room for both tables load the new one after the old one is closed; the other processors
// answer meanwhile.
func (t *Table) Reload(ctx context.Context, root *os.Root, path string) error {
	t.changing.Lock()
	defer t.changing.Unlock()
	if t.current.Load() == nil {
		return errClosed
	}
	d, err := Open(root, path, t.opt.Trusted)
	if err != nil {
		return err
	}
	if !t.opt.Trusted {
		if err := d.File.CheckSums(); err != nil {
			return errors.Join(err, d.Close())
		}
	}
	g := t.generation(d)
	if err := g.start(ctx, t.pool.Processors()); err != nil {
		return errors.Join(fmt.Errorf("loading %s: %w", path, err), d.Close())
	}
	t.replace(g)
	g.loadLate(ctx, t.pool.Processors())
	return nil
}

// loadLate loads the table on the processors that had no room for it beside the former one. The table
// answers already: a late store is a matter of speed alone.
func (g *Generation) loadLate(ctx context.Context, on []*serve.Processor) {
	if before := g.loaded(); before < len(g.at) {
		if _, err := g.load(ctx, on); err == nil && g.loaded() > before {
			_ = g.measure(ctx)
		}
	}
	for _, i := range g.inOrder() {
		g.lists[i].loadLate(ctx, on)
	}
}

// replace makes g the current generation and closes the former one. An error of closing is
// logged.
func (t *Table) replace(g *Generation) {
	if err := closeGeneration(t.current.Exchange(g)); err != nil {
		t.pool.Log().Warn().Err(err).Msg("the old table is not closed")
	}
}

func closeGeneration(g *Generation) error { return g.retire(g.Data.Close) }

// Close refuses further selections with plan.ErrClosed, waits for earlier selections, and
// releases stores and file. A second Close returns plan.ErrClosed. If a device hangs, the
// error is schedule.ErrHung too.
func (t *Table) Close() error {
	t.changing.Lock()
	defer t.changing.Unlock()
	g := t.current.Exchange(nil)
	if g == nil {
		return errClosed
	}
	defer t.pool.Disown(t)
	return closeGeneration(g)
}
