package bitmap

import (
	"math"
	"math/bits"

	"heddle/cl/internal/device"
	"heddle/codec/bitslice"
	"heddle/engine/plan"
)

// groupCells is the number of local cells of kernels/groups.cl at most, groupCopied that of all copies, groupPasses GROUP_PASSES,
// and groupRows the rows of a work-group at most.
const groupCells, groupCopied, groupPasses, groupRows = 3328, 1024, 4, 1 << 16

// groupSize is GROUP_WG, and groupTiles GROUP_TILES.
func groupSize(t device.Tuning) int  { return t.Local(64) }
func groupTiles(t device.Tuning) int { return t.Local(2) }

// manyUnits is the number of compute units from which on a work-group takes more rows, for fewer sums over work-groups.
const manyUnits = 16

// Flags of a field of kernels/groups.cl behind columnValues and columnSum.
const fieldGroup, fieldLast, fieldPacked = 4, 8, 16

// fieldEnds are the flags of ends.
const fieldEnds = columnLeast | columnGreatest

// groups is an aggregation of narrow columns by kernels/groups.cl.
type groups struct {
	*measuring
	kernel device.Kernel[codeGroupsArguments]
	fields []field
	global bool // cells lie in global memory
	one    bool // one pass, and one grouping, which all rows have a value of
	copies int  // of local cells, as a power of two; of packed ones
	span   int  // times that a work-group takes some tiles
	limb   int  // bits of the lower part of a sum in local memory
	cell   int  // words of a place in global memory
	passes int
	packed *field // whose sum is one number with the rows; nil: none
}

// field is a column of kernels/groups.cl.
type field struct {
	in           *plan.Input
	first, width int // its bits in a word of the pass
	fields       int // of the pass that it begins; 0: none
	flags        uint32
	values, sum  int    // words of a place
	ends         [2]int // words of the least code, as its complement, and of the greatest one
	pass         int
	last         uint32    // no code is above it
	of           *measured // nil: a grouping
}

func newGroups(m *measuring, v *values) *groups {
	g := &groups{measuring: m, cell: 1}
	for i := range m.groupings {
		g.fields = append(g.fields, field{in: &m.groupings[i], flags: fieldGroup, last: uint32(m.groupings[i].Last)})
	}
	if n := len(g.fields); n > 0 {
		g.fields[n-1].flags |= fieldLast
	}
	for i := range m.measured {
		c := &m.measured[i]
		f := field{in: &c.Input, flags: c.flags, last: uint32(min(c.Last, math.MaxUint32)), of: c}
		if c.flags&columnValues != 0 {
			f.values = g.cell
			g.cell++
		}
		for k, flag := range []uint32{columnLeast, columnGreatest} {
			if c.flags&flag != 0 {
				f.ends[k] = g.cell
				g.cell++
			}
		}
		g.fields = append(g.fields, f)
	}
	begin, used := 0, 33
	for i := range g.fields {
		f := &g.fields[i]
		f.width = v.columns[f.in.Column].width
		if used+f.width > 32 {
			begin, used = i, 0
			g.passes++
		}
		f.first, f.pass = used, g.passes-1
		used += f.width
		g.fields[begin].fields++
		if f.flags&columnSum != 0 {
			g.cell += g.cell % 2
			f.sum = g.cell
			g.cell += 2
		}
	}
	g.cell += g.cell % 2
	t, rows := m.store.rt.Tuning, groupTiles(m.store.rt.Tuning)*bitslice.TileRows
	g.setSpan(1, rows)
	if t.Serial {
		g.setSpan(groupRows/rows, rows)
	} else if m.store.rt.Info.ComputeUnits >= manyUnits { // other devices have short launches
		for g.setSpan(2, rows); g.span*rows < groupRows && m.places*g.planesOwn() > 256*g.span; {
			g.setSpan(2*g.span, rows)
		}
	}
	g.one = g.passes == 1 && len(m.groupings) == 1 && !v.columns[m.groupings[0].Column].lacks
	cells := m.places * g.planesOwn()
	if g.global = cells > groupCells; g.global {
		g.pack(rows)
	}
	for !g.global && !t.Serial && g.copies < 5 && cells<<(g.copies+1) <= groupCopied {
		g.copies++
	}
	return g
}

// mostPacked is the number of copies of packed cells at most.
const mostPacked = 16

// packedCopies is the number of copies in which the rows and a sum of codes of some bits are one number of 64 bits, where so many work-groups
// have so many rows, and the number of bits of the sum; 0: none.
func packedCopies(groups, rows, width int) (copies, limb int) {
	for copies = 1; copies <= mostPacked; copies *= 2 {
		count := bits.Len64(uint64((groups+copies-1)/copies) * uint64(rows))
		if 2*count+width <= 64 {
			return copies, 64 - count
		}
	}
	return 0, 0
}

// pack makes the rows and the first sum one number of 64 bits, in copies where one would be too small.
func (g *groups) pack(rows int) {
	g.copies = 0
	for i := range g.fields {
		f := &g.fields[i]
		if f.sum == 0 || f.values > 0 {
			continue
		}
		groups := tileRuns(g.store.t, groupTiles(g.store.rt.Tuning)*g.span)
		if copies, limb := packedCopies(groups, g.span*rows, bits.Len32(f.last)); copies > 0 {
			f.flags |= fieldPacked
			g.packed, g.copies, g.limb = f, copies, limb
			return
		}
	}
}

// setSpan sets the number of times that a work-group takes so many rows.
func (g *groups) setSpan(span, rows int) { g.span, g.limb = span, 32-bits.Len(uint(span*rows-1)) }

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
		n += bits.OnesCount32(f.flags & fieldEnds)
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
	if g.one {
		with |= useOne
	}
	g.kernel = codeGroups.For(with)
	return g.kernel.KernelID
}

func (g *groups) fused() bool { return true }

func (g *groups) cellsAt() int { return selectionWords + 8*len(g.fields) }

func (g *groups) words() int { return g.cellsAt() + g.places*g.cell }

// Cells in global memory are cleared there.
func (g *groups) up() int {
	if g.global {
		return g.cellsAt()
	}
	return g.words()
}

func (g *groups) room() int {
	if g.packed != nil {
		return g.words() + 2*g.copies*g.places
	}
	return g.words()
}

func (g *groups) write(x *slot, up []uint32, at int) {
	up[0], up[1], up[2], up[3] = uint32(len(g.fields)), uint32(g.places), uint32(g.cell), uint32(g.planesOwn())
	x.writeSelection(up[4:], at+4)
	for i := range g.fields {
		f, to := &g.fields[i], up[selectionWords+8*i:]
		to[0], to[1], to[2], to[3] = f.in.Column, uint32(f.first), uint32(f.width), f.flags|uint32(f.pass)<<8|uint32(f.fields)<<16
		to[4], to[5], to[6] = uint32(f.values|f.sum<<8), f.last, uint32(f.ends[0]|f.ends[1]<<8)
		if f.of == nil {
			to[4] = f.last + 2
		}
	}
}

func (g *groups) send(x *slot, at int) error {
	t := g.store.t
	if g.global {
		if err := clearRoom(x, at+g.cellsAt(), g.room()-g.cellsAt()); err != nil {
			return err
		}
	}
	args := codeGroupsArguments{slicesBuffers: g.store.values.Load().buffers(t), rowCount: int(t.Rows), batch: x.batch.Buffer, bits: x.rows.Buffer,
		counts: x.batch.Buffer, at: at / 4, cellsAt: at + g.cellsAt(), span: g.span, limb: g.limb, copies: g.copies, own: 16}
	if !g.global {
		args.own = device.LocalBytes(4 * g.places * g.planesOwn() << g.copies)
	}
	err := g.kernel.Launch(&x.Flight, args, tileRuns(t, groupTiles(x.Device.Tuning)*g.span), groupSize(x.Device.Tuning), device.ProbeTime)
	if err != nil || g.packed == nil {
		return err
	}
	return joinPacked(x, packedGroupsArguments{counts: x.batch.Buffer, cellsAt: args.cellsAt, places: g.places, planes: g.cell,
		sumAt: g.packed.sum, limb: g.limb, copies: g.copies})
}

// joined is JOINED of kernels/packed.cl, and joinGroup JOIN_WG.
const joined, joinGroup = 256, 64

// clearRoom clears words of the batch of a slot.
func clearRoom(x *slot, at, words int) error {
	args := clearCellsArguments{counts: x.batch.Buffer, at: at, words: words}
	return clearCells.Launch(&x.Flight, args, (words+joined-1)/joined, x.Device.Tuning.Local(joinGroup), device.ClearTime)
}

// joinPacked makes cells of packed ones.
func joinPacked(x *slot, args packedGroupsArguments) error {
	return packedGroups.Launch(&x.Flight, args, (args.places+joined-1)/joined, x.Device.Tuning.Local(joinGroup), device.ProbeTime)
}

func (g *groups) take(back []uint32) (*plan.Cells, uint32) {
	cells := g.answer()
	plane := func(word int) []uint64 {
		list := make([]uint64, g.places)
		for i := range list {
			list[i] = uint64(back[i*g.cell+word])
		}
		return list
	}
	cells.Rows = plane(0)
	for i := range g.fields {
		f := &g.fields[i]
		if f.values > 0 {
			cells.Values[f.of.input] = plane(f.values)
		}
		if f.sum > 0 {
			list := plane(f.sum)
			for i := range list {
				list[i] |= uint64(back[i*g.cell+f.sum+1]) << 32
			}
			g.setSums(cells, f.of, list)
		}
		if f.ends[0] > 0 {
			list := plane(f.ends[0])
			for i := range list {
				list[i] = uint64(^uint32(list[i]))
			}
			g.setEnds(cells, f.of, plan.MeasureLeast, list)
		}
		if f.ends[1] > 0 {
			g.setEnds(cells, f.of, plan.MeasureGreatest, plane(f.ends[1]))
		}
	}
	return cells, 0
}
