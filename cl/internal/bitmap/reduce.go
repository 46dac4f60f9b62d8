package bitmap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"unsafe"

	"heddle/cl/internal/device"
	"heddle/engine/plan"
)

// send enqueues the upload of the records. It runs in Runtime.Do.
func (n *columns) send() error {
	if n.records == 0 {
		return nil
	}
	e, err := n.x.Queue.EnqueueWriteBuffer(n.batch.Buffer, false, 0, 4*recordLen*n.records, unsafe.Pointer(&n.up.Words[0]), nil)
	return n.x.Sent(e, err, device.UploadTime)
}

// any enqueues the OR of a step of the batch. The result goes to column to, below the number
// of results of prepare. It runs in Runtime.Do.
func (n *columns) any(step, to int) error {
	passes := n.steps[step]
	if len(passes) == 0 || n.groups == 0 {
		n.moved += n.columnBytes()
		return n.clear(&n.words, to, int(n.columnBytes()/16), device.ProbeTime)
	}
	at := to
	for _, p := range passes {
		if err := n.expand(p, at); err != nil {
			return err
		}
		if err := n.reduce(to, at-to+p.vectors); err != nil {
			return err
		}
		at = to + 1
	}
	return nil
}

// check returns an error if a kernel of a finished batch gave up.
func (n *columns) check(ctx context.Context) error {
	if !n.rescan || n.scan.Look == nil || n.scan.Look.Fresh() {
		return nil
	}
	failed, err := n.scan.Look.GaveUp(ctx, n.x)
	if failed {
		n.scan.Look.Reset()
		err = errors.New("a work-group waited in vain for another")
	}
	return n.x.Device.Fail("decompressing vectors", err)
}

// chunks is the launch of a kernel with a work-group for each chunk of each row.
func (n *columns) chunks(count, rows int) (groups, local [2]int) {
	return [2]int{(count + chunkLen - 1) / chunkLen, rows}, [2]int{n.x.Device.Tuning.Local(chunkGroup), 1}
}

// clear sets packs of 16 bytes of m to zero, from the given one on.
func (n *columns) clear(m *device.Scratch, first, packs int, to device.Counter) error {
	groups, local := n.chunks(packs, 1)
	return wahClear.For(n.with).LaunchRows(n.x, wahClearArguments{m.Buffer, first, packs}, groups, local, to)
}

// expand decompresses the vectors of a pass to columns from to on, by Algorithm 2 or by its
// last loop alone.
func (n *columns) expand(p columnPass, to int) error {
	word := uint64(n.wordBytes())
	groups := n.groups * p.vectors
	words, all := uint64(p.words), uint64(groups)
	n.moved += uint64(p.vectors) * n.columnBytes()
	if !n.rescan {
		n.moved += all * (recallBytes + word)
		args := wahRecallArguments{a: n.s.arena.Buffers, coarse: n.s.coarse, fine: n.s.fine, vectors: len(n.s.t.Vectors),
			records: n.batch.Buffer, first: p.first, groups: n.groups, columns: n.words.Buffer, stride: n.stride, to: to}
		return wahRecall.For(n.with).LaunchRows(n.x, args, [2]int{n.s.dir.tiles, p.vectors}, [2]int{n.x.Device.Tuning.Local(recallGroup), 1}, device.DecodeTime)
	}
	n.moved += words*(word+4) + 4*all + 8*words + all*(4+word) + n.scanBytes(words) + n.scanBytes(all)
	sizes := wahSizesArguments{a: n.s.arena.Buffers, records: n.batch.Buffer, first: p.first, groups: n.groups, sizes: n.marks.Buffer}
	at, local := n.chunks(p.longest, p.vectors)
	if err := wahSizes.For(n.with).LaunchRows(n.x, sizes, at, local, device.DecodeTime); err != nil {
		return err
	}
	if err := n.sum(p.words); err != nil {
		return err
	}
	if err := n.clear(&n.marks, 0, (groups+3)/4, device.DecodeTime); err != nil {
		return err
	}
	ends := wahEndsArguments{starts: n.index.Buffer, n: p.words, ends: n.marks.Buffer, groups: groups}
	at, local = n.chunks(p.words, 1)
	if err := wahEnds.For(n.with).LaunchRows(n.x, ends, at, local, device.DecodeTime); err != nil {
		return err
	}
	if err := n.sum(groups); err != nil {
		return err
	}
	at, local = n.chunks(n.stride, p.vectors)
	return wahExpand.For(n.with).LaunchRows(n.x, wahExpandArguments{a: n.s.arena.Buffers, records: n.batch.Buffer, first: p.first, groups: n.groups,
		index: n.index.Buffer, columns: n.words.Buffer, stride: n.stride, to: to}, at, local, device.DecodeTime)
}

// recallBytes is the part of the directory that a group reads at most: an entry, a mask,
// and the number of words before it.
const recallBytes = 8 + 4 + 2

// scanBytes is the number of bytes that a scan reads and writes.
func (n *columns) scanBytes(count uint64) uint64 {
	if n.scan.Look != nil {
		return 8 * count
	}
	return 12 * count
}

// sum writes the exclusive prefix sums of the first marks to the index.
func (n *columns) sum(count int) error {
	n.scan.In, n.scan.Flags, n.scan.Out, n.scan.Sums, n.scan.Carry = n.marks.Buffer, n.marks.Buffer, n.index.Buffer, n.sums.Buffer, n.carry.Buffer
	if n.scan.Look == nil {
		if err := n.clear(&n.carry, 0, 1, device.DecodeTime); err != nil {
			return err
		}
	}
	return n.scan.Enqueue(n.x, count, device.DecodeTime)
}

// reduce ORs m columns from the given one on into the first of them.
func (n *columns) reduce(first, m int) error {
	reads, writes := reduceColumns(n.strategy, m)
	n.moved += uint64(reads+writes) * n.columnBytes()
	if n.strategy == plan.COA {
		packs := int(n.columnBytes() / 16)
		for ; m > 1; m = (m + 1) / 2 {
			groups, local := n.chunks(packs, m/2)
			args := reducePairsArguments{columns: n.words.Buffer, packs: packs, first: first, s: (m + 1) / 2}
			if err := reducePairs.For(n.with).LaunchRows(n.x, args, groups, local, device.ProbeTime); err != nil {
				return err
			}
		}
		return nil
	}
	rows := int(n.columnBytes()) / rowBytes(n.x.Device.Tuning)
	for step := 1; m > 1; {
		s := tileOf(n.strategy, m)
		tiles := (m + s.span - 1) / s.span
		local := [2]int{s.rows, s.pairs}
		if n.x.Device.Tuning.Serial {
			local = [2]int{1, 1}
		}
		groups := (rows + s.rows - 1) / s.rows
		for at := 0; at < groups; at += launchRows {
			args := reduceTilesArguments{columns: n.words.Buffer, rows: rows, first: first, step: step, m: m, span: s.span, j: s.rows, firstRow: at * s.rows}
			if err := reduceTiles.For(n.with).LaunchRows(n.x, args, [2]int{min(groups-at, launchRows), tiles}, local, device.ProbeTime); err != nil {
				return err
			}
		}
		m, step = tiles, step*s.span
	}
	return nil
}

// rowBytes returns the bytes of a column in a row of a tile of reduce_tiles.
func rowBytes(t device.Tuning) int { return cmp.Or(t.TableRow, 16) }

// launchRows limits the rows of groups of a launch of reduce_tiles: some drivers count
// work-items in 32 bits.
const launchRows = 1 << 22

// tileShape is the shape of a tile of reduce_tiles: rows times pairs work-items over a
// number of columns.
type tileShape struct{ rows, pairs, span int }

// Pairs of columns of a tile at most. Tiles have chunkGroup work-items, in the paper 1024. A
// row has 16 bytes unless the tuning row says otherwise, so 8 rows make a line of 128.
const (
	hybridPairs = 16
	idealPairs  = 32
)

// tileOf returns the shape of the tiles that reduce m columns: fewer columns make narrower
// tiles.
func tileOf(s plan.Strategy, m int) tileShape {
	pairs := 1 << bits.Len(uint((m+1)/2-1))
	switch s {
	case plan.ROA:
		return tileShape{1, min(pairs, chunkGroup), m}
	case plan.Hybrid:
		pairs = min(pairs, hybridPairs)
		return tileShape{chunkGroup / pairs, pairs, 2 * pairs}
	}
	pairs = min(pairs, idealPairs)
	return tileShape{chunkGroup / pairs, pairs, m}
}

// reduceColumns returns the numbers of columns that a reduction of m columns reads and
// writes. By Nelson et al. 2020 these are 2m-2 and m-1 for COA, m and 1 for ROA and ideal
// hybrid, m+k and k+1 for hybrid with k tiles side by side, if one tile reduces these.
func reduceColumns(s plan.Strategy, m int) (reads, writes int) {
	if s == plan.COA {
		return 2*m - 2, m - 1
	}
	for m > 1 {
		span := tileOf(s, m).span
		tiles := (m + span - 1) / span
		reads, writes, m = reads+m, writes+tiles, tiles
	}
	return reads, writes
}

// explainColumns describes the columns of some steps under a strategy that decompresses, if
// each step has one pass.
func (s *Store) explainColumns(strategy plan.Strategy, steps []plan.Step) string {
	columns, reads, writes := 0, 0, 0
	for _, p := range steps {
		if m := int(p.To - p.From); p.Code == plan.StepAny && m > 0 {
			r, w := reduceColumns(strategy, m)
			columns, reads, writes = columns+m, reads+r, writes+w
		}
	}
	size := uint64(s.t.Groups()) * uint64(s.t.Word()/8)
	return fmt.Sprintf(", decompressed to %d columns of %.1f MB, whose reduction reads %d and writes %d", columns, float64(size)/1e6, reads, writes)
}
