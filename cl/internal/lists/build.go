package lists

import (
	"context"
	"fmt"
	"slices"
	"sync"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/codec"
	"heddle/engine/plan"
)

// HostWords is the size of the host memory, in words, in which tables are built before
// their upload. A single table may be longer.
const HostWords = 32 << 20

// fillTables builds the tables piece by piece and uploads each piece.
func fillTables(ctx context.Context, rt *device.Runtime, src *plan.Source, refs []tableRef, buffer *ocl.MemObject) error {
	var host []uint32
	for from := 0; from < len(refs); {
		start, to, size := refs[from].off, from, uint32(0)
		for to < len(refs) && (to == from || refs[to].off-start+refs[to].words <= HostWords) {
			size = refs[to].off - start + refs[to].words
			to++
		}
		host = slices.Grow(host[:0], int(size))[:size]
		clear(host)
		if err := buildTables(ctx, src, refs, from, to, host); err != nil {
			return err
		}
		if size > 0 {
			if err := rt.WriteWords(ctx, buffer, int(start), host); err != nil {
				return err
			}
		}
		from = to
	}
	return nil
}

// decoded is memory for the docIDs of a list and for its buckets.
type decoded struct{ docs, starts []uint32 }

var decodedPool = sync.Pool{New: func() any { return new(decoded) }}

// buildTables decodes the lists from from to to-1 on all cores and writes their tables to
// host, which begins with the table of the first list.
func buildTables(ctx context.Context, src *plan.Source, refs []tableRef, from, to int, host []uint32) error {
	return device.InParallel(to-from, 4096*(to-from), func(i int) error {
		r := refs[from+i]
		if r.words == 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		d := decodedPool.Get().(*decoded)
		defer decodedPool.Put(d)
		var err error
		if d.docs, err = src.List(plan.Handle(from + i)).AppendTo(d.docs[:0]); err != nil {
			return fmt.Errorf("list %d: %w", from+i, err)
		}
		table := host[r.off-refs[from].off:][:r.words]
		switch r.probe {
		case ProbeHS:
			d.starts = codec.AppendBuckets(d.starts[:0], d.docs, r.shift)
			copy(table, d.starts)
		case ProbeLR:
			l := codec.FitLine(d.docs)
			for k, v := range [4]int64{l.Slope, l.Intercept, l.Left, l.Right} {
				table[2*k], table[2*k+1] = uint32(uint64(v)), uint32(uint64(v)>>32)
			}
		case ProbeSeg:
			localRanges(table, d.docs)
		case ProbeLine:
			splitRanges(table, d.docs)
		case ProbeBits:
			for _, x := range d.docs {
				table[x>>5] |= 1 << (x & 31)
			}
		}
		return nil
	})
}

// localRanges writes the table of plan.LRSeg: one line for the list, and for each segment
// of predicted positions the greatest distances of docIDs to the left and to the right of
// the prediction.
func localRanges(table, docs []uint32) {
	l := codec.FitLine(docs)
	for k, v := range [2]int64{l.Slope, l.Intercept} {
		table[2*k], table[2*k+1] = uint32(uint64(v)), uint32(uint64(v)>>32)
	}
	for i, d := range docs {
		at := min(max((int64(d)*l.Slope+l.Intercept)>>codec.LineShift, 0), int64(len(docs)-1))
		local := table[4+2*(at/lrSegment):]
		local[0] = max(local[0], uint32(max(at-int64(i), 0)))
		local[1] = max(local[1], uint32(max(int64(i)-at, 0)))
	}
}

// splitRanges writes the table of plan.LRSplit: the first docIDs of all segments, and then the
// line and the safe range of each.
func splitRanges(table, docs []uint32) {
	s := codec.FitLines(docs)
	copy(table, s.First)
	for k, l := range s.Lines {
		copy(table[len(s.First)+(splitWords-1)*k:], []uint32{
			uint32(l.Slope), uint32(uint64(l.Intercept)), uint32(uint64(l.Intercept) >> 32), uint32(l.Left), uint32(l.Right)})
	}
}
