package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"heddle/engine"
	"heddle/engine/hdl"
	"heddle/engine/plan"
)

// newListsBench fills the options and opens the rows; the caller closes them.
func newListsBench(opt ListsOptions, stdout, stderr io.Writer) (*listsBench, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	rows, err := openRows(opt.JSON, stdout)
	if err != nil {
		return nil, err
	}
	return &listsBench{opt: opt, rows: rows, out: opt.tables(stdout, stderr), log: stderr, peaks: make(map[string]float64)}, nil
}

// Lists measures conjunctive queries on the GOV-like workload: every backend ×
// layout × algorithm, as in Ao et al. 2011, Figures 5 and 6 and Table 7. Tables
// go to stdout, progress to stderr, rows to opt.JSON, figures to opt.Plot. It
// fails if two of them answer any query differently.
func Lists(ctx context.Context, opt ListsOptions, stdout, stderr io.Writer) (err error) {
	b, err := newListsBench(opt, stdout, stderr)
	if err != nil {
		return err
	}
	defer func() { err = b.rows.close(err) }()
	opt = b.opt
	for _, order := range opt.Orders {
		if err := b.order(ctx, order); err != nil {
			return err
		}
	}
	return nil
}

// listsBench is the state of one call of Lists.
type listsBench struct {
	opt      ListsOptions
	rows     *rowWriter
	out, log io.Writer
	peaks    map[string]float64 // copy bandwidth by device, bytes a second

	// Of the workload at hand:
	w       *Workload
	dict    *hdl.Dictionary
	queries []engine.Query
	check   *checker
	peer    *roaringPeer // nil without peers
	cells   []cell
}

// order measures one workload.
func (b *listsBench) order(ctx context.Context, order Order) error {
	b.w, b.dict, b.queries, b.check, b.peer, b.cells = nil, nil, nil, nil, nil, nil
	debug.FreeOSMemory() // gigabytes, of which the next order needs as many
	began := time.Now()
	w, err := generate(ctx, b.opt.Seed, b.opt.themes(), order, b.opt.docs)
	if err != nil {
		return err
	}
	if err := b.use(ctx, w); err != nil {
		return err
	}
	b.logf("%s: generated in %.1f s", w.Name(), time.Since(began).Seconds())
	w.describe(b.out)
	if order == b.opt.Orders[0] && !b.opt.Short { // the same in every order
		stages, err := w.Stages(ctx, 10_000)
		if err != nil {
			return err
		}
		if err := stages.Write(b.out); err != nil {
			return err
		}
	}
	for i, layout := range b.opt.Layouts {
		src, err := w.Encode(ctx, layout)
		if err != nil {
			return err
		}
		names, required := b.opt.backends()
		for _, name := range names {
			err := b.group(ctx, layout, src, name)
			if err == nil && i == 0 && b.opt.Plot != "" {
				err = b.sweep(ctx, layout, src, name)
			}
			if !required && errors.Is(err, plan.ErrNoDevice) {
				b.logf("%s left out: %v", name, err)
				continue
			}
			if err != nil {
				return err
			}
		}
	}
	writeCells(b.out, b.cells)
	fmt.Fprintln(b.out, b.check)
	fmt.Fprintln(b.out)
	return nil
}

// use prepares the queries, the dictionary, the checker and the peer.
func (b *listsBench) use(ctx context.Context, w *Workload) (err error) {
	b.w = w
	if b.dict, err = hdl.NewDictionary(w.Terms); err != nil {
		return err
	}
	b.queries = w.engineQueries(max(b.opt.queries("cpu"), b.opt.queries("gpu")))
	if b.check, err = newChecker(ctx, w, b.opt.queries("cpu")); err != nil {
		return err
	}
	if b.opt.Peers {
		b.logf("making the bitmaps of %s", peerName)
		b.peer, err = newRoaringPeer(ctx, w, b.opt.Threads)
	}
	return err
}

// open makes an index of src on a backend. An OpenCL device that fails on the
// way would be replaced by another one; devices are compared by their names.
func (b *listsBench) open(ctx context.Context, src *plan.Source, backend string, opt engine.Options) (*engine.Index, error) {
	opt.Backend, opt.Device, opt.Threads = backend, b.opt.Device, b.opt.Threads
	if opt.BatchCandidates == 0 {
		opt.BatchCandidates = b.opt.Threshold
	}
	return engine.New(ctx, src, b.dict, opt)
}

// group measures one layout on one backend: all algorithms and the peer in turns,
// then what a batch costs.
func (b *listsBench) group(ctx context.Context, layout Layout, src *plan.Source, backend string) (err error) {
	x, err := b.open(ctx, src, backend, engine.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	info := x.Backend()
	n := b.opt.queries(info.Type)
	b.logf("%s on %s: %d queries, %d MB resident", layout, info.Device, n, x.Memory()>>20)

	var cells []cell
	var turns []turn
	for _, a := range b.opt.Algorithms {
		c := cell{layout: layout, algorithm: a, info: info, queries: n, threshold: x.BatchCandidates()}
		got := make([]uint64, n)
		err := x.SearchBatches(ctx, b.queries[:n], engine.SearchOptions{Algorithm: a}, func(first int, r *plan.Results) error {
			digests(got[first:first+len(r.Offsets)-1], r)
			return nil
		})
		if errors.Is(err, plan.ErrOutOfMemory) {
			b.logf("%s left out: %v", c.name(), err)
			continue
		}
		if err == nil {
			err = b.check.check(c.name()+" on "+info.Device, got)
		}
		if err != nil {
			return err
		}
		cells = append(cells, c)
		turns = append(turns, func() error {
			return x.SearchBatches(ctx, b.queries[:n], engine.SearchOptions{Algorithm: a}, func(int, *plan.Results) error { return nil })
		})
	}
	if b.peer != nil {
		turns = append(turns, func() error { return b.peer.run(ctx, n, func(int, []uint32) {}) })
		got := make([]uint64, n)
		if err := b.peer.run(ctx, n, func(q int, docs []uint32) { got[q] = digest(docs) }); err != nil {
			return err
		}
		if err := b.check.check(peerName, got); err != nil {
			return err
		}
	}
	rates, err := inTurns(turns, b.opt.Runs, n)
	if err != nil {
		return err
	}
	for i := range cells {
		cells[i].rate = rates[i]
		if b.peer != nil {
			cells[i].peer = rates[len(cells)]
		}
	}
	if err := b.costs(ctx, src, backend, cells); err != nil {
		return err
	}
	for i := range cells {
		if err := b.rows.write(cells[i].rows(b.w.Name())...); err != nil {
			return err
		}
	}
	b.cells = append(b.cells, cells...)
	return nil
}

// turn is one timed run of one contestant.
type turn func() error

// inTurns runs everybody once, then everybody again, so that a machine that gets
// slower does so for all. It returns queries a second.
func inTurns(turns []turn, runs, queries int) ([]summary, error) {
	rates := make([][]float64, len(turns))
	for range runs {
		for i, run := range turns {
			began := time.Now()
			if err := run(); err != nil {
				return nil, err
			}
			rates[i] = append(rates[i], float64(queries)/time.Since(began).Seconds())
		}
	}
	out := make([]summary, len(turns))
	for i := range rates {
		out[i] = summarize(rates[i])
	}
	return out, nil
}

func (b *listsBench) logf(format string, args ...any) { fmt.Fprintf(b.log, format+"\n", args...) }
