package serve

import (
	"errors"
	"io/fs"
	"os"

	"heddle/engine/internal/cost"
)

// readBook finds the cost models of g: the models in use if they are of the same index and
// no others were written since, else the file.
func (x *Index) readBook(g *Lists) (err error) {
	if g.costs != "" {
		if info, err := os.Stat(g.costs); err == nil {
			g.measured = info.ModTime()
		}
		if old := x.current.Load(); old != nil && old.costs == g.costs && old.checksum == g.checksum && old.measured.Equal(g.measured) {
			g.book = old.book
			return nil
		}
		g.book, err = cost.Load(g.costs, g.checksum, x.opt.Metric)
		_, other := errors.AsType[*cost.OtherIndexError](err)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, fs.ErrNotExist):
		case other && x.opt.Costs == "":
			x.pool.opt.Log.Warn().Err(err).Msg("costs are measured anew")
		default:
			return err
		}
	}
	g.book = cost.NewBook(g.checksum, x.opt.Metric)
	return nil
}

// keepsCosts tells whether learnt costs are written: to the file that the caller named, or
// over an existing one beside the index.
func (g *Lists) keepsCosts() bool {
	if g.costs == "" || g.x.opt.Costs != "" {
		return g.costs != ""
	}
	_, err := os.Stat(g.costs)
	return err == nil
}

// SaveCosts writes the cost models, if they have a file.
func (g *Lists) SaveCosts() error {
	if g.costs == "" {
		return nil
	}
	return g.book.Save(g.costs)
}

// Costs returns the cost models.
func (g *Lists) Costs() *cost.Book { return g.book }
