package bitmap

import (
	"math"

	"heddle/cl/internal/device"
	"heddle/codec/bitslice"
	"heddle/engine/plan"
)

// totals is an aggregation without groupings by kernels/totals.cl.
type totals struct {
	*measuring
	kernel device.Kernel[measureRowsArguments]
}

// totalGroups limits the number of work-groups, each of which has ends of codes.
const totalGroups = 1 << 12

// shape is the number of times that a work-group takes some tiles, and the number of work-groups.
func (g *totals) shape() (span, groups int) {
	runs := max(tileRuns(g.store.t, g.tiles()), 1) // a table without rows has an answer, too
	span = (runs + totalGroups - 1) / totalGroups
	return span, (runs + span - 1) / span
}

// tiles is the number of tiles that a work-group has at a time. Few compute units take few, for short launches.
func (g *totals) tiles() int {
	n := sliceTiles(g.store.rt.Tuning)
	if g.store.rt.Info.ComputeUnits < manyUnits {
		n = min(n, 1)
	}
	return n
}

// tileRuns is the number of runs of some tiles.
func tileRuns(t *plan.Table, tiles int) int { return (bitslice.Tiles(t.Rows) + tiles - 1) / tiles }

func (g *totals) prepare(with device.Features) device.KernelID {
	g.kernel = measureRows.For(with)
	return g.kernel.KernelID
}

func (g *totals) fused() bool { return true }

func (g *totals) cellsAt() int { return selectionWords + columnWords*len(g.measured) }

// endsAt is a word behind the first cell.
func (g *totals) endsAt() int { return 2 + 4*len(g.measured) }

func (g *totals) words() int {
	_, groups := g.shape()
	for i := range g.measured {
		if g.measured[i].flags&columnEnds != 0 {
			return g.cellsAt() + g.endsAt() + 4*groups*len(g.measured)
		}
	}
	return g.cellsAt() + g.endsAt()
}

func (g *totals) up() int   { return g.words() }
func (g *totals) room() int { return g.words() }

func (g *totals) write(x *slot, up []uint32, at int) {
	up[0] = uint32(len(g.measured))
	x.writeSelection(up[4:], at+4)
	for i := range g.measured {
		c := &g.measured[i]
		writeColumn(up[selectionWords+columnWords*i:], &c.Input, 0, 0, c.flags)
	}
}

func (g *totals) send(x *slot, at int) error {
	span, groups := g.shape()
	t := g.store.t
	args := measureRowsArguments{slicesBuffers: g.store.values.Load().buffers(t), rowCount: int(t.Rows), batch: x.batch.Buffer, bits: x.rows.Buffer,
		counts: x.batch.Buffer, at: at / 4, cellsAt: at + g.cellsAt(), span: span, tilesAtOnce: g.tiles()}
	return g.kernel.Launch(&x.Flight, args, groups, sliceGroup(x.Device.Tuning), device.ProbeTime)
}

func (g *totals) take(back []uint32) (*plan.Cells, uint32) {
	cells := g.answer()
	cells.Rows = []uint64{uint64(back[0])}
	for k := range g.measured {
		c, own := &g.measured[k], back[2+4*k:]
		if c.flags&columnValues != 0 {
			cells.Values[c.input] = []uint64{uint64(own[0])}
		}
		if c.flags&columnSum != 0 {
			g.setSums(cells, c, []uint64{uint64(own[2]) | uint64(own[3])<<32})
		}
		if c.flags&columnEnds == 0 {
			continue
		}
		least, greatest := uint64(math.MaxUint64), uint64(0)
		for e := back[g.endsAt()+4*k:]; len(e) >= 4; e = e[min(4*len(g.measured), len(e)):] {
			least = min(least, uint64(e[0])|uint64(e[1])<<32)
			greatest = max(greatest, uint64(e[2])|uint64(e[3])<<32)
		}
		g.setEnds(cells, c, plan.MeasureLeast, []uint64{least})
		g.setEnds(cells, c, plan.MeasureGreatest, []uint64{greatest})
	}
	return cells, 0
}
