package bitmap

import (
	"context"
	"fmt"
	"unsafe"

	"heddle/cl/internal/device"
	"heddle/codec"
	"heddle/engine/plan"
)

const (
	facetSpan  = 2048    // words of bits of a work-group
	facetCodes = 1 << 20 // or bins of a column that the kernel counts
	facetLocal = 4096    // FACET_COUNTS of kernels/facet.cl
)

// facetGroup is FACET_WG of the kernel.
func facetGroup(t device.Tuning) int { return t.Local(256) }

// CountCodes implements plan.CodeCounter. It takes columns of up to 2^20 codes, or bins of codes.
func (s *Store) CountCodes(ctx context.Context, rows []uint64, inputs []plan.Input) ([][]uint64, error) {
	if s.closed.Load() {
		return nil, plan.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := selfTestFacets(ctx, s.rt); err != nil {
		return nil, err
	}
	return s.countCodes(ctx, rows, inputs)
}

// countCodes is CountCodes without a self-test.
func (s *Store) countCodes(ctx context.Context, rows []uint64, inputs []plan.Input) ([][]uint64, error) {
	if len(rows) != plan.FilterWords(s.t.Rows) {
		return nil, fmt.Errorf("%d words of rows, want %d", len(rows), plan.FilterWords(s.t.Rows))
	}
	all := make([][]uint64, len(inputs))
	f := facets{store: s, rows: rows}
	for i, in := range inputs {
		if in.Top() >= facetCodes {
			continue
		}
		column := facetColumn{Input: in, at: f.words, boundsAt: f.bounds}
		all[i] = make([]uint64, in.Top()+2)
		column.counts = all[i]
		f.columns, f.words, f.bounds = append(f.columns, column), f.words+int(in.Top())+3, f.bounds+len(in.Bounds)
	}
	if len(f.columns) == 0 || s.t.Rows == 0 {
		return all, nil
	}
	v, err := s.allValues(ctx)
	if err != nil {
		return nil, err
	}
	f.kernel = countCodes.For(v.features())
	if _, err := s.rt.ProgramOf(f.kernel.KernelID); err != nil {
		return nil, err
	}
	x, err := s.free.Take(ctx, s.closing, s.newTableSlot)
	if err != nil {
		return nil, err
	}
	if err := f.run(ctx, x); err != nil {
		go x.giveBack() // once no command is under way
		return nil, err
	}
	s.free.Give(x)
	return all, nil
}

// facets counts the codes of some columns.
type facets struct {
	store   *Store
	kernel  device.Kernel[countCodesArguments]
	rows    []uint64
	columns []facetColumn
	words   int // counters of all columns
	bounds  int // bounds of bins of all columns
}

type facetColumn struct {
	plan.Input
	at       int // the first of its counters
	boundsAt int
	counts   []uint64
}

// run counts on a slot.
func (f *facets) run(ctx context.Context, x *slot) error {
	defer x.ReleaseEvents()
	s := f.store
	bits := unsafe.Slice((*uint32)(unsafe.Pointer(&f.rows[0])), 2*len(f.rows))
	boundsAt := columnWords * len(f.columns)
	countsAt := boundsAt + 2*f.bounds
	bitsAt := (countsAt + f.words + 3) / 4 * 4
	if err := s.scratch.Room(&x.batch, bitsAt+len(bits), 0, "rows to count"); err != nil {
		return err
	}
	if err := x.Grow(ctx, &x.Up, bitsAt+len(bits)); err != nil {
		return err
	}
	if err := x.Grow(ctx, &x.Down, f.words); err != nil {
		return err
	}
	up := x.Up.Words
	clear(up[:bitsAt])
	for i, c := range f.columns {
		writeColumn(up[columnWords*i:], &c.Input, countsAt+c.at, boundsAt/2+c.boundsAt, 0)
		writeBounds(up[boundsAt+2*c.boundsAt:], &c.Input)
	}
	parts := (len(bits) + copyPart - 1) / copyPart
	_ = device.InParallel(parts, len(bits), func(i int) error {
		from := i * copyPart
		to := min(from+copyPart, len(bits))
		copy(up[bitsAt+from:bitsAt+to], bits[from:to])
		return nil
	})
	err := x.Run(ctx, "counting codes", func() error {
		if err := x.Write(x.batch.Buffer, bitsAt+len(bits)); err != nil {
			return err
		}
		args := countCodesArguments{slicesBuffers: s.values.Load().buffers(s.t), batch: x.batch.Buffer, columns: len(f.columns), bitsAt: bitsAt / 4, words: len(bits), span: facetSpan,
			counts: x.batch.Buffer}
		groups := len(f.columns) * ((len(bits) + facetSpan - 1) / facetSpan)
		if err := f.kernel.Launch(&x.Flight, args, groups, facetGroup(x.Device.Tuning), device.ProbeTime); err != nil {
			return err
		}
		if err := x.ReadAt(x.batch.Buffer, countsAt, 0, f.words); err != nil {
			return err
		}
		return x.Queue.Flush()
	})
	if err != nil {
		return err
	}
	for _, c := range f.columns {
		counts := x.Down.Words[c.at:]
		if n := counts[c.Top()+2]; n > 0 {
			return fmt.Errorf("column %d has %d codes above the last one, %d: %w", c.Column, n, c.Last, codec.ErrCorrupt)
		}
		for i := range c.counts {
			c.counts[i] = uint64(counts[i])
		}
	}
	return nil
}

var _ plan.CodeCounter = (*Store)(nil)
