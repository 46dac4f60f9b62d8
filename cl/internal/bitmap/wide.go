package bitmap

import (
	"math"
	"slices"

	"heddle/cl/internal/device"
	"heddle/engine/plan"
)

const (
	measureSpan  = 1024 // words of bits of a work-group
	measureCells = 3840 // MEASURE_CELLS of kernels/measure.cl
)

// wideGroups is an aggregation by kernels/measure.cl: of wide columns, and of bins of codes.
type wideGroups struct {
	*measuring
	kernel device.Kernel[measureGroupsArguments]
}

func (g *wideGroups) prepare(with device.Features) device.KernelID {
	g.kernel = measureGroups.For(with)
	return g.kernel.KernelID
}

func (g *wideGroups) fused() bool { return false }

func (g *wideGroups) cells() int { return g.planes * g.places }

// boundsAt is a word behind the head of the upload.
func (g *wideGroups) boundsAt() int { return 4 + columnWords*(len(g.groupings)+len(g.measured)) }

func (g *wideGroups) cellsAt() int {
	at := g.boundsAt()
	for i := range g.groupings {
		at += 2 * len(g.groupings[i].Bounds)
	}
	return at
}

func (g *wideGroups) words() int { return g.cellsAt() + g.cells() + 1 }

func (g *wideGroups) up() int   { return g.words() }
func (g *wideGroups) room() int { return g.words() }

func (g *wideGroups) write(_ *slot, up []uint32, at int) {
	up[0], up[1], up[2], up[3] = uint32(len(g.groupings)), uint32(len(g.groupings)+len(g.measured)), uint32(g.places), uint32(g.cells())
	records, bounds := up[4:], g.boundsAt()
	for i := range g.groupings {
		in := &g.groupings[i]
		writeColumn(records, in, 0, (at+bounds)/2, 0)
		writeBounds(up[bounds:], in)
		records, bounds = records[columnWords:], bounds+2*len(in.Bounds)
	}
	for i := range g.measured {
		c := &g.measured[i]
		writeColumn(records, &c.Input, c.plane, 0, c.flags)
		last, factor := c.Last/c.divisor, c.inverse()
		if c.flags&(columnLower|columnUpper) != 0 {
			last = math.MaxUint32
		}
		records[8], records[9], records[10], records[11] = uint32(last), uint32(last>>32), uint32(factor), uint32(factor>>32)
		records = records[columnWords:]
	}
}

func (g *wideGroups) send(x *slot, at int) error {
	words := 2 * plan.FilterWords(g.store.t.Rows)
	args := measureGroupsArguments{slicesBuffers: g.store.values.Load().buffers(g.store.t), batch: x.batch.Buffer, at: at / 4, bits: x.rows.Buffer,
		words: words, span: measureSpan, counts: x.batch.Buffer, cellsAt: at + g.cellsAt()}
	for ; args.lowerEnds < 2; args.lowerEnds++ {
		if args.lowerEnds > 0 && !g.finds(columnLeast|columnGreatest) {
			break
		}
		if err := g.kernel.Launch(&x.Flight, args, (words+measureSpan-1)/measureSpan, facetGroup(x.Device.Tuning), device.ProbeTime); err != nil {
			return err
		}
	}
	return nil
}

// finds tells whether a column has one of some flags.
func (g *wideGroups) finds(flags uint32) bool {
	return slices.ContainsFunc(g.measured, func(c measured) bool { return c.flags&flags != 0 })
}

func (g *wideGroups) take(back []uint32) (*plan.Cells, uint32) {
	plane := func(n int) []uint64 {
		all := make([]uint64, g.places)
		for i, x := range back[n*g.places:][:g.places] {
			all[i] = uint64(x)
		}
		return all
	}
	cells := g.answer()
	cells.Rows = plane(0)
	for i := range g.measured {
		c := &g.measured[i]
		next := c.plane
		if c.flags&columnValues != 0 {
			cells.Values[c.input] = plane(next)
			next++
		}
		wide := func() []uint64 {
			all := plane(next)
			for i, high := range back[(next+1)*g.places:][:g.places] {
				all[i] |= uint64(high) << 32
			}
			next += 2
			return all
		}
		if c.flags&columnSum != 0 {
			sums := wide()
			for i := range sums {
				sums[i] *= c.divisor // setSums divides
			}
			g.setSums(cells, c, sums)
		}
		if c.flags&columnLeast != 0 {
			ends := wide()
			for i := range ends {
				ends[i] = ^ends[i]
			}
			g.setEnds(cells, c, plan.MeasureLeast, ends)
		}
		if c.flags&columnGreatest != 0 {
			g.setEnds(cells, c, plan.MeasureGreatest, wide())
		}
	}
	return cells, back[g.cells()]
}
