package tables

import (
	"context"
	"errors"
	"fmt"
	"os"

	"heddle/engine/internal/pool"
)

// Options rule a table.
type Options struct {
	Trusted bool     // skips the checksums of files
	Root    *os.Root // folder of the file; nil is the file system
}

// Table answers selections, from generation to generation. It is safe for concurrent use.
type Table struct {
	pool.Opened[Generation, *Generation]
	opt Options
}

// OpenTable opens the table at path, a file or a folder of files, on the processors of a pool. Errors:
// hdb.ErrCorrupt for a damaged file, plan.ErrOutOfMemory where no processor has room.
func OpenTable(ctx context.Context, p *pool.Pool, path string, opt Options) (*Table, error) {
	d, err := Open(ctx, opt.Root, path, opt.Trusted)
	if err != nil {
		return nil, err
	}
	return NewTable(ctx, p, d, opt)
}

// NewTable makes a table resident on the processors of a pool. It closes d after an error.
func NewTable(ctx context.Context, p *pool.Pool, d *Data, opt Options) (*Table, error) {
	done, err := p.Use()
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	defer done()
	t := &Table{opt: opt}
	t.Pool = p
	g := t.generation(d)
	if err := g.start(ctx, p.Processors()); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	t.Start(g, "table", nil)
	return t, nil
}

// Reload opens the table file at path, below root unless it is nil, beside the current one and answers from it all
// selections that arrive from then on. It returns when the earlier selections have ended
// and the old file is closed. It compares all checksums of the new file. After an error the
// old file stays in use. Processors without
// room for both tables load the new one after the old one is closed; the other processors
// answer meanwhile.
func (t *Table) Reload(ctx context.Context, root *os.Root, path string) error {
	return t.Change(func(*Generation) error { return t.reload(ctx, root, path) })
}

func (t *Table) reload(ctx context.Context, root *os.Root, path string) error {
	d, err := Open(ctx, root, path, t.opt.Trusted)
	if err != nil {
		return err
	}
	if !t.opt.Trusted {
		if err := d.File.CheckSums(); err != nil {
			return errors.Join(err, d.Close())
		}
	}
	g := t.generation(d)
	if err := g.start(ctx, t.Pool.Processors()); err != nil {
		return errors.Join(fmt.Errorf("loading %s: %w", path, err), d.Close())
	}
	t.Replace(g)
	g.loadLate(ctx, t.Pool.Processors())
	return nil
}

// loadLate loads the table on the processors that had no room for it beside the former one. The table
// answers already: a late store is a matter of speed alone.
func (g *Generation) loadLate(ctx context.Context, on []*pool.Processor) {
	if before := g.loaded(); before < len(g.at) {
		if _, err := g.load(ctx, on); err == nil && g.loaded() > before {
			_ = g.measure(ctx)
		}
	}
	for _, i := range g.inOrder() {
		g.lists[i].loadLate(ctx, on)
	}
}
