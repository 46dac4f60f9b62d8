package cl

import (
	"errors"
	"fmt"

	"heddle/engine/plan"
)

// nelson computes the OR of vectors of a table as Nelson et al. 2020 do: vectors become
// columns of groups, which are reduced to one. What it enqueues goes into the queue of
// a slot, which it belongs to.
//
// A column is stride words, of which the first are the groups of a vector. Those of a
// step stand behind that of its result, which is the first of them, and are overwritten
// by the next step. Where there is no room for all, they come in passes: the first
// column of a later pass is the result so far.
type nelson struct {
	x      *flight
	s      *tableStore
	groups int // of a vector
	stride int // words of a column
	most   int // columns of a pass at most

	strategy plan.Strategy
	rescan   bool
	steps    [][]nelsonPass // of the steps of a batch, nil where they are not StepAny
	records  int            // of the batch

	up      *pinned
	batch   scratch // records of vectors
	columns scratch
	// For scans: sizes of words, then end points; starting points, then word indices.
	marks, index scratch
	sums, carry  scratch   // of scan.cl in the plain form
	look         *lookBack // or in the other
	moved        uint64    // bytes that the kernels of the batch load and store
}

// nelsonPass is consecutive operands of a step: their records, and their words.
type nelsonPass struct {
	first, vectors int
	words, longest int
}

// nelsonProgram holds the kernels of decompress.cl and reduce.cl, and scans.
const nelsonProgram = "wah_expand"

const (
	chunkLen      = 1024      // CHUNK in kernels/chunk.cl
	chunkGroup    = 256       // CHUNK_WG
	recallGroup   = 128       // RECALL_WG in kernels/decompress.cl
	nelsonColumns = 1 << 15   // of a pass at most: launches have a row of groups for each
	nelsonGroups  = 1<<31 - 1 // of the columns of a pass at most, so that scans count them
	nelsonRecord  = 4         // words
)

// newNelson makes one for the vectors of s. Scratch comes with the first batch.
func newNelson(x *flight, s *tableStore) (*nelson, error) {
	b, t := x.backend, s.t
	if !b.tuning.Serial && b.dev.handle.MaxWorkGroupSize() < chunkGroup {
		return nil, &plan.DeviceError{Kind: plan.ErrNoDevice, Device: b.dev.String(), Op: "checking limits",
			Err: fmt.Errorf("work-groups hold %d work-items, decompression asks for %d", b.dev.handle.MaxWorkGroupSize(), chunkGroup)}
	}
	if err := b.checkScan(); err != nil {
		return nil, err
	}
	pack := 128 / t.Word()
	n := &nelson{x: x, s: s, groups: int(t.Groups()), most: nelsonColumns}
	n.stride = max((n.groups+pack-1)/pack, 1) * pack
	names := []string{"wah_clear", "wah_sizes", "wah_ends", "wah_expand", "wah_recall", "reduce_pairs", "reduce_tiles", "scan_sums", "scan_tiles"}
	if b.looksBack() {
		names = append(names, "scan_ahead")
	}
	id := kernelID{name: nelsonProgram}
	if t.Word() == 64 {
		id.with = useWide
	}
	if err := x.create(id, names...); err != nil {
		return nil, err
	}
	return n, setValues(x.kernels[kernelID{name: "scan_sums"}])
}

// wordBytes is the size of a word of the vectors.
func (n *nelson) wordBytes() int { return n.s.t.Word() / 8 }

// columnBytes is the size of a column.
func (n *nelson) columnBytes() uint64 { return uint64(n.stride) * uint64(n.wordBytes()) }

// prepare cuts the StepAny of s into passes, writes the records of their operands and
// makes room. At most `sets` results are kept at a time, in columns 0 to sets-1.
// Nothing may be under way; not in Backend.do.
func (n *nelson) prepare(s *plan.SelectBatch, sets int) error {
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
	if err := n.s.room(&n.batch, max(nelsonRecord*operands, 4), "records of vectors"); err != nil {
		return err
	}
	if n.up == nil || len(n.up.words) < n.batch.words {
		if n.up != nil {
			n.up.release(n.x.backend)
			n.up = nil
		}
		if n.up, err = n.x.backend.newPinned(4 * n.batch.words); err != nil {
			return err
		}
	}
	n.records = 0
	n.steps = append(n.steps[:0], make([][]nelsonPass, len(s.Steps))...)
	for i, p := range s.Steps {
		if p.Code == plan.StepAny {
			n.steps[i] = n.cut(s.Operands[p.From:p.To], columns)
		}
	}
	return nil
}

// cut writes records of operands, in passes over so many columns.
func (n *nelson) cut(operands []uint32, columns int) (passes []nelsonPass) {
	for most := columns; len(operands) > 0; most = columns - 1 { // later ones go on with the result
		p := nelsonPass{first: n.records, vectors: min(len(operands), most)}
		for _, v := range operands[:p.vectors] {
			words, at := int(n.s.t.Vectors[v].Words), n.s.places[v]
			r := [nelsonRecord]uint32{at.off, v, n.s.dir.bases[v], at.buffer}
			if n.rescan {
				r[1], r[2] = uint32(words), uint32(p.words)
			}
			*(*[nelsonRecord]uint32)(n.up.words[nelsonRecord*n.records:]) = r
			p.words, p.longest = p.words+words, max(p.longest, words)
			n.records++
		}
		passes = append(passes, p)
		operands = operands[p.vectors:]
	}
	return passes
}

// makeRoom makes room for `sets` results and the columns of steps of at most `widest`
// vectors, and says how many columns a pass may have: all, or as many as an eighth of
// the memory holds, or as there is memory for, but two.
func (n *nelson) makeRoom(sets, widest int) (int, error) {
	b := n.x.backend
	least := min(widest, 2)
	share := min(b.dev.info.Memory, b.limit) / 8
	each := n.columnBytes()
	if n.rescan {
		each += 8 * uint64(n.groups)
	}
	columns := min(widest, n.most, nelsonGroups/max(n.groups, 1), int(share/each), int(b.dev.info.MaxAlloc/n.columnBytes())-sets+1)
	for columns = max(columns, least); ; columns = max(columns/2, least) {
		err := n.roomFor(sets-1+columns, columns)
		if err == nil || columns == least || !errors.Is(err, plan.ErrOutOfMemory) {
			return columns, err
		}
	}
}

// roomFor makes room for so many columns, and for scans over those of a pass.
func (n *nelson) roomFor(columns, pass int) error {
	if err := n.s.room(&n.columns, columns*int(n.columnBytes()/4), "decompressed vectors"); err != nil || !n.rescan {
		return err
	}
	t, groups := n.x.backend.tuning, pass*n.groups+4
	for _, m := range []*scratch{&n.marks, &n.index} {
		if err := n.s.room(m, groups, "scans of vectors"); err != nil {
			return err
		}
	}
	if err := n.s.room(&n.carry, 4, "the sum of a scan"); err != nil {
		return err
	}
	if !n.x.backend.looksBack() {
		return n.s.room(&n.sums, t.ScanChunk, "sums of tiles")
	}
	tiles := n.marks.words/t.scanTile() + 1
	if n.look != nil && n.look.bytes >= 4*(stateWords+2*uint64(tiles)) {
		return nil
	}
	n.dropLook()
	var err error
	if n.look, err = n.x.backend.newLookBack(n.x.memory, tiles); err == nil {
		n.s.slotBytes.Add(n.look.bytes)
	}
	return err
}

func (n *nelson) dropLook() {
	if n.look != nil {
		n.s.slotBytes.Add(-n.look.bytes)
		n.look.release()
		n.look = nil
	}
}

// release frees all scratch. Nothing may be under way; not in Backend.do.
func (n *nelson) release() {
	if n.up != nil {
		n.up.release(n.x.backend)
	}
	n.dropLook()
	for _, m := range []*scratch{&n.batch, &n.columns, &n.marks, &n.index, &n.sums, &n.carry} {
		n.s.drop(m)
	}
}
