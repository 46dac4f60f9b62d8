package hdb

import (
	"context"
	"math"
	"math/bits"
	"sync"

	"heddle/codec/bitslice"
	"heddle/codec/wah"
	"heddle/engine/file/container"
	"heddle/engine/file/mapped"
	"heddle/engine/table/column"
)

// CheckSums reads the whole file and compares its checksums. Damage is a *CorruptError.
func (f *File) CheckSums() (err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	return f.file.CheckSums()
}

// Verify is the deep check. It includes the checks of Open. Then it compares rows: the
// stored code of every row lies in a bin; the tiles and the vectors agree on rows without a value; bins have the stated number of rows, and begin and end with the code of a row;
// and every row is in exactly the vectors of its bin, or of missing values. Damage is a
// *CorruptError. ctx ends it early with ctx.Err(). It uses all cores; its memory is 1.5
// MiB, 16 KiB per core and 16 bytes per vector.
func (f *File) Verify(ctx context.Context) (err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	if err := f.file.CheckSums(); err != nil {
		return err
	}
	if err := f.checkWords(); err != nil {
		return err
	}
	for i := range f.columns {
		var err error
		if t := f.views[i]; t.Words64 != nil {
			err = verifyRows(ctx, f, i, t.Vector64)
		} else {
			err = verifyRows(ctx, f, i, t.Vector32)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// blockGroups is the number of groups that verifyRows takes at a time: their rows are
// whole segments of stored values.
const blockGroups = 16 * bitslice.SegmentRows

// Bin numbers of rows that are in no bin.
const (
	noBin   = math.MaxUint32
	noValue = math.MaxUint32 - 1
	absent  = math.MaxUint32 - 2 // without a value in the tiles
)

// rowsCheck is the state of verifyRows between blocks.
type rowsCheck[W wah.Word] struct {
	f     *File
	col   int
	c     *column.Column
	words [][]W // words of each vector
	at    []wah.Position
	acc   sync.Pool
	codes []uint64 // codes of the rows of the block
	bins  []uint32 // likewise; or noBin, noValue
	found []column.Bin
}

// verifyRows checks column i, of whose table vector gives the words of vectors.
func verifyRows[W wah.Word](ctx context.Context, f *File, i int, vector func(uint32) []W) error {
	rows, step := uint64(f.rows[i]), blockGroups*wah.GroupBits[W]()
	x := &rowsCheck[W]{f: f, col: i, c: &f.columns[i], codes: make([]uint64, min(rows, step))}
	x.bins = make([]uint32, len(x.codes))
	x.acc.New = func() any { return new([blockGroups]W) }
	x.at = make([]wah.Position, x.c.Vectors())
	for v := range x.at {
		x.words = append(x.words, vector(x.c.Vector+uint32(v)))
	}
	x.found = make([]column.Bin, len(x.c.Bins))
	stored, err := f.views[i].Codes(uint32(i))
	if err != nil {
		return err
	}
	err = container.ParallelRanges(uint64(len(stored.Tiles)), 1, func(tile, _ uint64) error {
		if err := stored.ValidateBounds(int(tile)); err != nil {
			return x.corrupt("%v", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for row := uint64(0); row < rows; row += step {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := x.block(row, min(step, rows-row)); err != nil {
			return err
		}
	}
	for b, got := range x.found {
		if want := x.c.Bins[b]; got != want {
			at := b // index of the bin among the bins of all columns
			for _, before := range f.columns[:i] {
				at += len(before.Bins)
			}
			return f.corrupt(secBins, uint64(at)*binSize, "column %.60q: bin %d has codes %d to %d of %d rows, its rows have %d to %d and are %d",
				x.c.Name, b, want.Lo, want.Hi, want.Rows, got.Lo, got.Hi, got.Rows)
		}
	}
	return nil
}

// block checks n rows from row on.
func (x *rowsCheck[W]) block(row, n uint64) error {
	if err := x.decode(row, n); err != nil {
		return err
	}
	valued := len(x.words) // vectors of rows with values
	if x.c.Missing > 0 {
		valued--
		err := x.ones(valued, row, func(r uint64) error {
			if x.bins[r] != absent {
				return x.corrupt("row %d has code %d and is among the rows without a value", row+r, x.codes[r])
			}
			x.bins[r] = noValue
			return nil
		})
		if err != nil {
			return err
		}
	}
	for r, b := range x.bins[:n] {
		switch code := x.codes[r]; {
		case b == noValue:
		case b == absent:
			return x.corrupt("row %d has no code and is not among the rows without a value", row+uint64(r))
		case b == noBin:
			return x.corrupt("row %d has code %d, which is in no bin", row+uint64(r), code)
		default:
			bin := &x.found[b]
			if bin.Rows == 0 || code < bin.Lo {
				bin.Lo = code
			}
			bin.Hi = max(bin.Hi, code)
			bin.Rows++
		}
	}
	// A vector has as many ones as its bins have rows; so when none of them is of
	// another bin, none is missing.
	return container.Parallel(valued, func(v int) error {
		bins := x.c.BinsOf(v)
		return x.ones(v, row, func(r uint64) error {
			if b := x.bins[r]; b < uint32(bins.From) || b > uint32(bins.To) {
				return x.f.corrupt(secVectors, x.f.table.Vectors[x.c.Vector+uint32(v)].Off*uint64(x.f.header.word/8),
					"column %.60q: vector %d has row %d, whose value is in none of its bins", x.c.Name, v, row+r)
			}
			return nil
		})
	})
}

// corrupt is an error about the values of the column.
func (x *rowsCheck[W]) corrupt(format string, args ...any) error {
	return x.f.corrupt(secSlices, 4*x.f.slicesAt(x.col), "column %.60q: "+format, append([]any{x.c.Name}, args...)...)
}

// decode finds codes and bins of n rows from row on.
func (x *rowsCheck[W]) decode(row, n uint64) error {
	stored, err := x.f.views[x.col].Codes(uint32(x.col))
	if err != nil {
		return err
	}
	return container.ParallelRanges(n, 8*bitslice.SegmentRows, func(lo, hi uint64) error {
		var codes [bitslice.SegmentRows]uint64
		for at := lo; at < hi; at += bitslice.SegmentRows {
			segment := int((row + at) / bitslice.SegmentRows)
			n, has := stored.Segment(segment, &codes), stored.Present(segment)
			for k, code := range codes[:n] {
				b := uint32(absent)
				if has[k/64]>>(k%64)&1 != 0 {
					b = noBin
					if bin, ok := x.c.Find(code); ok {
						b = uint32(bin)
					}
				}
				x.codes[at+uint64(k)], x.bins[at+uint64(k)] = code, b
			}
		}
		return nil
	})
}

// ones calls f for the ones of the next block of vector v, counted from the block's
// first row.
func (x *rowsCheck[W]) ones(v int, row uint64, f func(r uint64) error) error {
	acc := x.acc.Get().(*[blockGroups]W)
	defer x.acc.Put(acc)
	g := wah.GroupBits[W]()
	groups := acc[:min(blockGroups, wah.Groups[W](uint64(x.f.rows[x.col])-row))]
	zero, fill := wah.Fill(x.words[v], x.at[v], uint64(len(groups)))
	if fill && zero == 0 {
		x.at[v] = wah.OrInto(groups, x.words[v], x.at[v])
		return nil
	}
	clear(groups)
	x.at[v] = wah.OrInto(groups, x.words[v], x.at[v])
	for i, group := range groups {
		for ; group != 0; group &= group - 1 {
			if err := f(uint64(i)*g + uint64(bits.TrailingZeros64(uint64(group)))); err != nil {
				return err
			}
		}
	}
	return nil
}
