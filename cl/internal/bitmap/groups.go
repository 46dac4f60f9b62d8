package bitmap

import (
	"math/bits"

	"heddle/cl/internal/device"
	"heddle/codec/bitslice"
	"heddle/engine/plan"
)

// groupCells is GROUP_CELLS of kernels/groups.cl, and groupRows the rows of a work-group at most.
const groupCells, groupRows = 3584, 1 << 16

// groupSize is GROUP_WG, and groupTiles GROUP_TILES.
func groupSize(t device.Tuning) int  { return t.Local(128) }
func groupTiles(t device.Tuning) int { return t.Local(4) }

// Flags of a field of kernels/groups.cl behind columnValues and columnSum.
const fieldGroup, fieldLast = 4, 8

// groups is an aggregation of narrow columns by kernels/groups.cl.
type groups struct {
	*measuring
	kernel device.Kernel[codeGroupsArguments]
	fields []field
	global bool // cells lie in global memory
	copies int  // of local cells, as a power of two
	span   int  // times that a work-group takes some tiles
	limb   int  // bits of the lower part of a sum in local memory
	cell   int  // words of a place in global memory
}

// field is a column of kernels/groups.cl.
type field struct {
	in           *plan.Input
	first, width int // its bits in a word of the pass
	fields       int // of the pass that it begins; 0: none
	flags        uint32
	values, sum  int // words of a place
	factor       uint64
	last         uint64
	of           *measured // nil: a grouping
}

func newGroups(m *measuring, v *values) *groups {
	g := &groups{measuring: m, cell: 1}
	for i := range m.groupings {
		g.fields = append(g.fields, field{in: &m.groupings[i], flags: fieldGroup, last: m.groupings[i].Last, factor: 1})
	}
	if n := len(g.fields); n > 0 {
		g.fields[n-1].flags |= fieldLast
	}
	for i := range m.measured {
		c := &m.measured[i]
		f := field{in: &c.Input, flags: c.flags, last: c.Last / c.divisor, factor: c.inverse(), of: c}
		if c.flags&columnValues != 0 {
			f.values = g.cell
			g.cell++
		}
		g.fields = append(g.fields, f)
	}
	begin, used := 0, 33
	for i := range g.fields {
		f := &g.fields[i]
		f.width = v.columns[f.in.Column].width
		if used+f.width > 32 {
			begin, used = i, 0
		}
		f.first = used
		used += f.width
		g.fields[begin].fields++
		if f.flags&columnSum != 0 {
			g.cell += g.cell % 2
			f.sum = g.cell
			g.cell += 2
		}
	}
	g.cell += g.cell % 2
	t := m.store.rt.Tuning
	rows := groupTiles(t) * bitslice.TileRows
	for g.span = groupRows / rows; ; g.span /= 2 {
		g.limb = 32 - bits.Len(uint(g.span*rows-1))
		if g.span == 1 || t.Serial || 512*g.span <= m.places*g.planesOwn() {
			break
		}
	}
	cells := m.places * g.planesOwn()
	if g.global = cells > groupCells; g.global {
		g.span = 1
	}
	for !g.global && !t.Serial && g.copies < 5 && cells<<(g.copies+1) <= groupCells {
		g.copies++
	}
	return g
}

// planesOwn is the number of planes of local cells.
func (g *groups) planesOwn() int {
	n := 1
	for i := range g.fields {
		f := &g.fields[i]
		if f.of == nil {
			continue
		}
		if f.flags&columnValues != 0 {
			n++
		}
		if f.flags&columnSum != 0 {
			if n++; f.last>>g.limb > 0 {
				n++
			}
		}
	}
	return n
}

func (g *groups) prepare(with device.Features) device.KernelID {
	if g.global {
		with |= useGlobal
	}
	g.kernel = codeGroups.For(with)
	return g.kernel.KernelID
}

func (g *groups) fused() bool { return true }

func (g *groups) cellsAt() int { return selectionWords + 8*len(g.fields) }

func (g *groups) words() int { return g.cellsAt() + g.places*g.cell + 1 }

func (g *groups) write(x *slot, up []uint32, at int) {
	up[0], up[1], up[2], up[3] = uint32(len(g.fields)), uint32(g.places), uint32(g.cell), uint32(g.planesOwn())
	x.writeSelection(up[4:], at+4)
	for i := range g.fields {
		f, to := &g.fields[i], up[selectionWords+8*i:]
		to[0], to[1], to[2], to[3] = f.in.Column, uint32(f.first), uint32(f.width), f.flags|uint32(f.fields)<<8
		to[4], to[5], to[6] = uint32(f.values|f.sum<<8), uint32(f.last), uint32(f.factor)
		if f.of == nil {
			to[4] = uint32(f.last) + 2
		}
	}
}

func (g *groups) send(x *slot, at int) error {
	t := g.store.t
	args := codeGroupsArguments{slicesBuffers: g.store.values.Load().buffers(t), rowCount: int(t.Rows), batch: x.batch.Buffer, bits: x.rows.Buffer,
		counts: x.batch.Buffer, at: at / 4, cellsAt: at + g.cellsAt(), span: g.span, limb: g.limb, copies: g.copies}
	return g.kernel.Launch(&x.Flight, args, tileRuns(t, groupTiles(x.Device.Tuning)*g.span), groupSize(x.Device.Tuning), device.ProbeTime)
}

func (g *groups) take(back []uint32) (*plan.Cells, uint32) {
	cells := g.answer()
	for i := range cells.Rows {
		cells.Rows[i] = uint64(back[i*g.cell])
	}
	for i := range g.fields {
		f := &g.fields[i]
		if f.values > 0 {
			list := make([]uint64, g.places)
			for i := range list {
				list[i] = uint64(back[i*g.cell+f.values])
			}
			cells.Values[f.of.input] = list
		}
		if f.sum > 0 {
			list := make([]uint64, g.places)
			for i := range list {
				list[i] = uint64(back[i*g.cell+f.sum]) | uint64(back[i*g.cell+f.sum+1])<<32
			}
			g.setSums(cells, f.of, list)
		}
	}
	return cells, back[g.places*g.cell]
}
