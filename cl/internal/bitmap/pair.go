package bitmap

import (
	"math/bits"

	"heddle/cl/internal/device"
	"heddle/engine/plan"
)

// pairGroup is PAIR_WG of kernels/pair.cl. A unit of the device has pairWaves work-groups, or with cells in global memory pairTrials, of
// pairRows rows at least.
const pairGroup, pairWaves, pairTrials, pairRows = 256, 8, 2, 4096

// pairCell is the number of words of a cell, trialBits that of bits of the rows of a trial at least, and pairFew tells which part of
// the codes is few.
const pairCell, trialBits, pairFew = 4, 5, 32

// pairPart is the part of local memory that cells take which are no trial: more work-groups run at once.
const pairPart = 4

// Columns whose codes are bounds of rows in kernels/pair.cl.
const boundGroup, boundSum = 1, 2

// noColumn is NO_COLUMN of kernels/pair.cl.
const noColumn = 1<<32 - 1

// pair is an aggregation by kernels/pair.cl: the sum of one narrow column in groups by another one, both without missing values.
type pair struct {
	*measuring
	kernel device.Kernel[pairGroupsArguments]
	by, of uint32 // the columns
	one    bool   // the bits of both columns fit 32
	global bool   // cells lie in global memory
	bound  int    // the column whose codes select rows; 0: bits do
	lo, hi uint32 // the bounds of its codes
	span   int    // words of 32 rows of a work-group
	limb   int    // bits of the lower part of a sum
	two    bool   // local sums have two parts
	copies int    // of local cells, as a power of two; of packed ones
	part   int    // bits of a sum of a trial in local memory; 0: there is none
}

// newPair returns nil for an aggregation that another kernel takes.
func newPair(m *measuring, v *values, sel *plan.SelectBatch) *pair {
	if !m.store.pairs() || len(m.groupings) != 1 || len(m.measured) > 1 {
		return nil
	}
	fits := func(in *plan.Input) bool { c := &v.columns[in.Column]; return c.narrow && !c.lacks && in.Bounds == nil }
	p, last, turned := &pair{measuring: m, by: m.groupings[0].Column, of: noColumn}, uint64(0), v.columns[m.groupings[0].Column].width
	for i := range m.measured {
		of := &m.measured[i]
		if of.flags != columnSum || !fits(&of.Input) {
			return nil
		}
		p.of, last, turned = of.Column, of.Last, turned+v.columns[of.Column].width
	}
	if !fits(&m.groupings[0]) {
		return nil
	}
	p.one = turned <= 32
	p.choose(sel)
	words, width := (int(m.store.t.Rows)+31)/32, bits.Len64(last)
	t, info := m.store.rt.Tuning, m.store.rt.Info
	share := func(waves int) int {
		return max(pairRows/32, (words+waves*info.ComputeUnits-1)/(waves*info.ComputeUnits))
	}
	p.span = min(share(pairWaves), groupRows/32)
	p.limb = 32 - bits.Len(uint(32*p.span-1))
	p.two = width > p.limb
	if cells := m.places * p.numbers(); 4*cells <= t.GroupLocal/pairPart {
		for p.copies < 5 && cells<<(p.copies+1) <= min(groupCopied, t.GroupLocal/pairPart/4) {
			p.copies++
		}
		return p
	}
	p.global, p.two = true, false
	if n := (32 - width) / 2; n >= trialBits && 4*m.places <= t.GroupLocal {
		if span := min(share(pairTrials), m.places<<n/64); 32*span >= 4*m.places {
			p.span, p.part = span, 32-n
		}
	}
	if p.copies, p.limb = packedCopies(p.groups(), 32*p.span, width); p.copies == 0 {
		return nil
	}
	return p
}

// pairs tells whether the device takes kernels/pair.cl.
func (s *Store) pairs() bool { return pairLocal(s.rt.Tuning) > 0 }

// choose makes a selection of one range of codes of one of the columns bounds. The kernel then reads no other slices, but turns rows to codes
// that are not selected, so that few codes are selected first.
func (p *pair) choose(sel *plan.SelectBatch) {
	steps := sel.Selection(0)
	if len(steps) != 2 || steps[0].Code != plan.StepAll || steps[1].Code != plan.StepCheck || steps[1].To-steps[1].From != 1 {
		return
	}
	r, column, last := sel.Ranges[steps[1].From], steps[1].Column, uint64(0)
	switch column {
	case p.by:
		p.bound, last = boundGroup, p.groupings[0].Last
	case p.of:
		p.bound, last = boundSum, p.measured[0].Last
	}
	if r.Hi = min(r.Hi, last); r.Lo > r.Hi || r.Hi-r.Lo < last/pairFew {
		p.bound = 0
	}
	p.lo, p.hi = uint32(r.Lo), uint32(r.Hi)
}

// numbers is the number of local numbers of a place and copy.
func (p *pair) numbers() int {
	switch {
	case p.part > 0:
		return 1
	case p.global:
		return 0
	case p.two:
		return 3
	}
	return 2
}

// groups is the number of work-groups.
func (p *pair) groups() int { return ((int(p.store.t.Rows)+31)/32 + p.span - 1) / p.span }

func (p *pair) prepare(with device.Features) device.KernelID {
	with &^= useCodes
	if p.global {
		with |= useGlobal
	}
	if p.one {
		with |= useOne
	}
	p.kernel = pairGroups.For(with)
	return p.kernel.KernelID
}

func (p *pair) fused() bool  { return p.bound > 0 }
func (p *pair) cellsAt() int { return 4 }
func (p *pair) words() int   { return p.cellsAt() + pairCell*p.places }

// Cells in global memory are cleared there.
func (p *pair) up() int {
	if p.global {
		return p.cellsAt()
	}
	return p.words()
}

func (p *pair) room() int {
	if p.global {
		return p.words() + 2*p.copies*p.places
	}
	return p.words()
}

func (p *pair) write(*slot, []uint32, int) {}

func (p *pair) send(x *slot, at int) error {
	t := p.store.t
	if p.global {
		if err := clearRoom(x, at+p.cellsAt(), p.room()-p.cellsAt()); err != nil {
			return err
		}
	}
	args := pairGroupsArguments{slicesBuffers: p.store.values.Load().buffers(t), rowCount: int(t.Rows), bits: x.rows.Buffer, counts: x.batch.Buffer,
		hasBits: p.bound == 0, cellsAt: at + p.cellsAt(), span: p.span, by: int(p.by), of: int(p.of),
		places: p.places, planes: pairCell, bound: p.bound, from: int(p.lo), to: int(p.hi), limb: p.limb, two: p.two, copies: p.copies,
		part: p.part, head: max(1, p.span/8), own: max(16, device.LocalBytes(4*p.places*p.numbers()))}
	if !p.global {
		args.own <<= p.copies
	}
	if err := p.kernel.Launch(&x.Flight, args, p.groups(), pairGroup, device.ProbeTime); err != nil || !p.global {
		return err
	}
	return joinPacked(x, packedGroupsArguments{counts: x.batch.Buffer, cellsAt: args.cellsAt, places: p.places, planes: pairCell,
		sumAt: 2, limb: p.limb, copies: p.copies})
}

func (p *pair) take(back []uint32) (*plan.Cells, uint32) {
	cells, sums := p.answer(), make([]uint64, p.places)
	cells.Rows = make([]uint64, p.places)
	for i := range sums {
		cell := back[pairCell*i:][:pairCell]
		cells.Rows[i], sums[i] = uint64(cell[0]), uint64(cell[2])|uint64(cell[3])<<32
	}
	if p.of != noColumn {
		p.setSums(cells, &p.measured[0], sums)
	}
	return cells, 0
}

// pairLocal is the number of bytes of local memory of pair_groups, 0 in the serial shape, which does not run it.
func pairLocal(t device.Tuning) int {
	if t.Serial {
		return 0
	}
	return t.GroupLocal
}
