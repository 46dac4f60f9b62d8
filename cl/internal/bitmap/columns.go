package bitmap

import (
	"context"
	"errors"
	"fmt"

	"heddle/cl/internal/device"
	"heddle/cl/internal/primitive"
	"heddle/engine/plan"
)

// columns computes the OR of vectors as Nelson et al. 2020 do: it decompresses vectors to
// columns of groups, and reduces the columns to one. It enqueues commands in the queue of
// the slot that it belongs to.
//
// A column is stride words, which begin with the groups of a vector. The columns of a step
// stand together, the first one receives the result, and the next step overwrites the
// rest. If there is no room for all, they come in passes: the first column of a later pass
// is the result so far.
type columns struct {
	x      *device.Flight
	s      *Store
	groups int // groups of a vector
	stride int // words of a column
	most   int // columns of a pass at most

	strategy plan.Strategy
	rescan   bool
	steps    [][]columnPass // passes by step of the batch; nil for steps other than StepAny
	records  int            // records of the batch

	up    *device.Pinned
	batch device.Scratch // records of vectors
	words device.Scratch
	// For scans: sizes of words, then end points; starting points, then word indices.
	marks, index device.Scratch
	sums, carry  device.Scratch // for the plain form of scans
	scan         primitive.Scanner
	with         device.Features // features of the program
	moved        uint64          // bytes that the kernels of the batch load and store
}

// columnPass is a range of operands of a step: their records and their words.
type columnPass struct {
	first, vectors int
	words, longest int
}

const (
	chunkLen    = 1024      // CHUNK in kernels/chunk.cl
	chunkGroup  = 256       // CHUNK_WG
	recallGroup = 128       // RECALL_WG in kernels/decompress.cl
	mostColumns = 1 << 15   // columns of a pass at most: a launch has a row of groups for each
	mostGroups  = 1<<31 - 1 // groups of all columns of a pass at most, so that scans count them
	recordLen   = 4         // words
)

// newColumns makes an object without scratch memory for the vectors of s.
func newColumns(x *device.Flight, s *Store) (*columns, error) {
	b, t := x.Device, s.t
	if !b.Tuning.Serial && b.MaxWorkGroup() < chunkGroup {
		return nil, b.Unfit(fmt.Sprintf("work-groups hold %d work-items, decompression needs %d", b.MaxWorkGroup(), chunkGroup))
	}
	if err := primitive.CheckScan(b); err != nil {
		return nil, err
	}
	pack := 8 * max(16, rowBytes(b.Tuning)) / t.Word() // a column is whole packs of 16 bytes, and whole rows
	n := &columns{x: x, s: s, groups: int(t.Groups()), most: mostColumns}
	n.stride = max((n.groups+pack-1)/pack, 1) * pack
	if t.Word() == 64 {
		n.with = useWide
	}
	n.scan.Program = wahExpand.For(n.with).KernelID
	return n, x.Prepare(n.scan.Program)
}

// wordBytes is the size of a word of the vectors.
func (n *columns) wordBytes() int { return n.s.t.Word() / 8 }

// columnBytes is the size of a column.
func (n *columns) columnBytes() uint64 { return uint64(n.stride) * uint64(n.wordBytes()) }

// prepare cuts the StepAny of s into passes, writes the records of their operands and makes
// room. At most the given number of results is kept at a time, in the first columns. No
// command may be under way. It does not run in Runtime.Do.
func (n *columns) prepare(ctx context.Context, s *plan.SelectBatch, sets int) error {
	n.strategy, n.rescan, n.moved = s.Strategy, s.Rescan, 0
	widest, operands := 1, 0
	for _, p := range s.Steps {
		if p.Code == plan.StepAny {
			widest, operands = max(widest, int(p.To-p.From)), operands+int(p.To-p.From)
		}
	}
	columns, err := n.makeRoom(max(sets, 1), widest)
	if err != nil {
		return err
	}
	if err := n.s.scratch.Room(&n.batch, max(recordLen*operands, 4), 0, "records of vectors"); err != nil {
		return err
	}
	if err := n.x.Grow(ctx, &n.up, n.batch.Words); err != nil {
		return err
	}
	n.records = 0
	n.steps = append(n.steps[:0], make([][]columnPass, len(s.Steps))...)
	for i, p := range s.Steps {
		if p.Code == plan.StepAny {
			n.steps[i] = n.cut(s.Operands[p.From:p.To], columns)
		}
	}
	return nil
}

// cut writes the records of operands, in passes over the given number of columns.
func (n *columns) cut(operands []uint32, columns int) (passes []columnPass) {
	for most := columns; len(operands) > 0; most = columns - 1 { // a later pass continues with the result
		p := columnPass{first: n.records, vectors: min(len(operands), most)}
		for _, v := range operands[:p.vectors] {
			words, at := int(n.s.t.Vectors[v].Words), n.s.places[v]
			r := [recordLen]uint32{at.Off, v, n.s.dir.bases[v], at.Buffer}
			if n.rescan {
				r[1], r[2] = uint32(words), uint32(p.words)
			}
			*(*[recordLen]uint32)(n.up.Words[recordLen*n.records:]) = r
			p.words, p.longest = p.words+words, max(p.longest, words)
			n.records++
		}
		passes = append(passes, p)
		operands = operands[p.vectors:]
	}
	return passes
}

// makeRoom makes room for a number of results and for the columns of the widest step. It
// returns the number of columns of a pass: all, or as many as an eighth of the memory
// holds, or as there is memory for, at least two.
func (n *columns) makeRoom(sets, widest int) (int, error) {
	b := n.x.Device
	least := min(widest, 2)
	most := min(b.Info.Memory, b.Memory.Size()) / 8
	each := n.columnBytes()
	if n.rescan {
		each += 8 * uint64(n.groups)
	}
	columns := min(widest, n.most, mostGroups/max(n.groups, 1), int(most/each), int(b.Info.MaxAlloc/n.columnBytes())-sets+1)
	for columns = max(columns, least); ; columns = max(columns/2, least) {
		err := n.roomFor(sets-1+columns, columns)
		if err == nil || columns == least || !errors.Is(err, plan.ErrOutOfMemory) {
			return columns, err
		}
	}
}

// roomFor makes room for columns, and for scans over the columns of a pass.
func (n *columns) roomFor(columns, pass int) error {
	if err := n.s.scratch.Room(&n.words, columns*int(n.columnBytes()/4), 0, "decompressed vectors"); err != nil || !n.rescan {
		return err
	}
	t, groups := n.x.Device.Tuning, pass*n.groups+4
	for _, m := range []*device.Scratch{&n.marks, &n.index} {
		if err := n.s.scratch.Room(m, groups, 0, "scans of vectors"); err != nil {
			return err
		}
	}
	if err := n.s.scratch.Room(&n.carry, 4, 0, "the sum of a scan"); err != nil {
		return err
	}
	if !primitive.LooksBack(n.x.Device) {
		return n.s.scratch.Room(&n.sums, t.ScanChunk, 0, "sums of tiles")
	}
	tiles := n.marks.Words/primitive.ScanTile(t) + 1
	if n.scan.Look != nil && n.scan.Look.Fits(tiles) {
		return nil
	}
	n.dropLook()
	var err error
	if n.scan.Look, err = primitive.NewLookBack(n.x.Device, n.x.Memory, tiles); err == nil {
		n.s.slotBytes.Add(n.scan.Look.Bytes)
	}
	return err
}

func (n *columns) dropLook() {
	if n.scan.Look != nil {
		n.s.slotBytes.Add(-n.scan.Look.Bytes)
		n.scan.Look.Release()
		n.scan.Look = nil
	}
}

// release frees the scratch memory. No command may be under way. It does not run in
// Runtime.Do.
func (n *columns) release() {
	if n.up != nil {
		n.up.Release(n.x.Device)
	}
	n.dropLook()
	for _, m := range []*device.Scratch{&n.batch, &n.words, &n.marks, &n.index, &n.sums, &n.carry} {
		n.s.scratch.Drop(m)
	}
}
