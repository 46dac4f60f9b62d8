package group

import (
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"

	"heddle/codec/bitslice"
	"heddle/engine/file/mapped"
	"heddle/engine/plan"
	"heddle/engine/table/gather"
	"heddle/engine/table/hdb"
	"heddle/engine/table/rowset"
)

// Finder finds codes of a column by their places in the ascending order of the codes of rows with a value. It counts the
// rows by the highest bits of their codes, and then the rows of one count by the next bits.
type Finder struct {
	column *gather.Column
	last   uint64
	rows   []uint64
	opt    *Options
	shift  int      // low bits of a code that first leaves out
	first  []uint64 // rows by the highest bits of their codes; nil before the first call of At
}

const (
	findBits   = 16            // bits of a code that are counted at a time
	leastFound = 1 << findBits // number of rows and of codes from which on a Finder pays for its counts
	fewFound   = 64            // number of rows of a tile up to which their codes are read one by one
)

// Finds tells whether a Finder takes less time and memory than a MeasureCodes of all rows of a bitset.
func Finds(in plan.Input, rows []uint64) bool {
	return in.Bounds == nil && in.Last >= leastFound && rowset.Count(rows) >= leastFound
}

// NewFinder finds codes of an input without bounds, in the rows of a bitset. Workers and Ended of opt hold.
func NewFinder(t *plan.Table, in plan.Input, rows []uint64, opt *Options) (*Finder, error) {
	c, err := gather.Open(t, in)
	if err != nil {
		return nil, fmt.Errorf("column %d: %w", in.Column, err)
	}
	return &Finder{column: c, last: in.Last, rows: rows, opt: opt, shift: max(0, bits.Len64(in.Last)-findBits)}, nil
}

// At is the code at a place, from 0, which is below the number of rows with a value. Errors: of Ended, and
// hdb.ErrCorrupt.
func (f *Finder) At(place uint64) (code uint64, err error) {
	if f.first == nil {
		if f.first, err = f.count(0, f.last, f.shift); err != nil {
			return 0, err
		}
	}
	counts, shift := f.first, f.shift
	for {
		i := 0
		for ; i < len(counts)-1 && place >= counts[i]; i++ {
			place -= counts[i]
		}
		code += uint64(i) << shift
		if shift == 0 {
			return code, nil
		}
		last := min(f.last, code+1<<shift-1)
		shift = max(0, shift-findBits)
		if counts, err = f.count(code, last, shift); err != nil {
			return 0, err
		}
	}
}

// count counts the rows with a code from lo to hi by their code less lo, without the lowest bits.
func (f *Finder) count(lo, hi uint64, shift int) ([]uint64, error) {
	tiles := len(f.column.Tiles().Tiles)
	workers := f.opt.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = max(1, min(workers, tiles))
	part := min(mostClaim, tiles/(claims*workers)+1)
	failed, all := make([]error, workers), make([][1 << findBits]uint32, workers)
	var next atomic.Int64
	var running sync.WaitGroup
	for w := range workers {
		running.Go(func() {
			defer mapped.Catch(mapped.Watch(), &failed[w])
			for i := int(next.Add(1)-1) * part; i < tiles && failed[w] == nil; i = int(next.Add(1)-1) * part {
				failed[w] = f.countTiles(i, min(i+part, tiles), lo, hi, shift, &all[w])
			}
		})
	}
	running.Wait()
	counts := make([]uint64, (hi-lo)>>shift+1)
	for w := range all {
		for i := range counts {
			counts[i] += uint64(all[w][i])
		}
	}
	return counts, errors.Join(failed...)
}

// countTiles counts the rows of tiles from first to before end.
func (f *Finder) countTiles(first, end int, lo, hi uint64, shift int, counts *[1 << findBits]uint32) error {
	if f.opt.Ended != nil {
		if err := f.opt.Ended(); err != nil {
			return err
		}
	}
	var codes [bitslice.TileRows]uint64
	of := f.column.Tiles()
	for tile := first; tile < end; tile++ {
		var rows bitslice.Set
		copy(rows[:], f.rows[tile*bitslice.TileWords:])
		f.column.WithValue(tile, &rows)
		if lo > 0 || hi < f.last {
			of.Within(tile, []bitslice.Range{{Lo: lo, Hi: hi}}, &rows)
		}
		n := count(&rows)
		if n > fewFound {
			of.Decode(tile, &codes)
		}
		for g, w := range rows {
			part := (*[64]uint64)(codes[64*g:])
			for ; w != 0; w &= w - 1 {
				i := bits.TrailingZeros64(w)
				code := part[i]
				if n <= fewFound {
					code, _ = of.At(uint32(tile*bitslice.TileRows + 64*g + i))
				}
				if code > f.last {
					return fmt.Errorf("row %d has code %d, the last code is %d: %w", tile*bitslice.TileRows+64*g+i, code, f.last, hdb.ErrCorrupt)
				}
				counts[uint16((code-lo)>>shift)]++
			}
		}
	}
	return nil
}
