package bitmap

import (
	"cmp"
	"context"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/filter"
	"heddle/engine/plan"
)

// columnWords is the size of a column of kernels/column.cl, in words.
const columnWords = 12

// Flags of a column there.
const (
	columnValues = 1 << iota
	columnSum
	columnBins
	columnEnds
)

// storedColumn is a column whose codes a kernel reads.
type storedColumn struct {
	plan.Input
	missing *filter.Set // nil: all rows have a value
}

// stored returns the column of an input.
func (s *Store) stored(ctx context.Context, in plan.Input) (c storedColumn, err error) {
	if c.Input = in; in.Missing {
		c.missing, err = s.missing(ctx, in.Vector)
	}
	return c, err
}

// missing returns the rows of a vector as a filter, which stays on the device.
func (s *Store) missing(ctx context.Context, vector uint32) (*filter.Set, error) {
	if known, ok := s.absent.Load(vector); ok {
		return known.(*filter.Set), nil
	}
	var sel plan.SelectBatch
	sel.Any(vector)
	sel.End()
	f, err := s.Filter(ctx, &sel, nil)
	if err != nil {
		return nil, err
	}
	known, loaded := s.absent.LoadOrStore(vector, f)
	if loaded { // another caller was faster
		err = f.Close()
	}
	if s.closed.Load() && s.absent.CompareAndDelete(vector, known) { // release has gone by
		return nil, cmp.Or(known.(*filter.Set).Close(), plan.ErrClosed)
	}
	return known.(*filter.Set), err
}

// filters returns the buffer of filters if the column needs it, else another buffer.
func (c *storedColumn) filters(rt *device.Runtime, other *ocl.MemObject) *ocl.MemObject {
	if c.missing != nil {
		return rt.Regions.Buffer()
	}
	return other
}

// write puts the column into the record of kernels/column.cl, with a number and flags for the kernel.
func (c *storedColumn) write(record []uint32, own, boundsAt int, flags uint32) {
	if c.Bounds != nil {
		flags |= columnBins
	}
	record[0], record[1], record[2], record[3] = c.Column, uint32(own), uint32(c.Top()), flags
	if c.missing != nil {
		record[4], record[5] = c.missing.Bits()[0], c.missing.Words()
	}
	record[6], record[7] = uint32(boundsAt), uint32(len(c.Bounds))
	record[8], record[9] = uint32(c.Last), uint32(c.Last>>32)
}

// writeBounds puts the bounds of bins into two words each.
func (c *storedColumn) writeBounds(to []uint32) {
	for k, b := range c.Bounds {
		to[2*k], to[2*k+1] = uint32(b), uint32(b>>32)
	}
}
