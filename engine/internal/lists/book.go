package lists

import (
	"errors"
	"io/fs"
	"os"

	"heddle/engine/internal/cost"
)

// readBook finds the cost models of g: the models in use if they are of the same index and
// the file has not changed since, else the file. Costs concern speed alone: a file that cannot
// be used causes a warning. Nothing but Calibrate writes over such a file, unless it is the
// file beside the index and holds costs of an earlier version or damaged ones.
func (x *Index) readBook(g *Generation) {
	if g.costs != "" {
		if info, err := os.Stat(g.costs); err == nil {
			g.measured = info.ModTime()
		}
		if old := x.Current(); old != nil && old.costs == g.costs && old.checksum == g.checksum && old.measured.Equal(g.measured) {
			g.book, g.foreign = old.book, old.foreign
			return
		}
		var err error
		g.book, err = cost.Load(g.costs, g.checksum, x.opt.Metric)
		if err == nil {
			return
		}
		if !errors.Is(err, fs.ErrNotExist) {
			_, other := errors.AsType[*cost.OtherIndexError](err)
			_, damaged := errors.AsType[*cost.CorruptError](err)
			g.foreign = x.opt.Costs != "" || !other && !damaged
			x.Pool.Log().Warn().Err(err).Msg("costs are measured anew")
		}
	}
	g.book = cost.NewBook(g.checksum, x.opt.Metric)
}

// keepsCosts tells whether learnt costs are written: to the file that the caller named, or
// over an existing one beside the index.
func (g *Generation) keepsCosts() bool {
	if g.foreign {
		return false
	}
	if g.costs == "" || g.x.opt.Costs != "" {
		return g.costs != ""
	}
	_, err := os.Stat(g.costs)
	return err == nil
}

// SaveCosts writes the cost models, if they have a file.
func (g *Generation) SaveCosts() error {
	if g.costs == "" {
		return nil
	}
	return g.book.Save(g.costs)
}

// Costs returns the cost models.
func (g *Generation) Costs() *cost.Book { return g.book }
