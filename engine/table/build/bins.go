package build

import (
	"context"
	"math/bits"
	"slices"
	"sort"

	"heddle/engine/table/binning"
	"heddle/engine/table/column"
)

// planned is a column whose bins are chosen: of the second pass.
type planned struct {
	*collected
	Settings
	file  *temp    // the file with the blocks
	base  uint64   // least key, in the scale of the column
	auto  bool     // the settings leave the binning to this package
	scale uint8    // scale of the stored column
	upper []uint64 // greatest code of each bin
}

// plan chooses the bins of a column.
func (b *builder) plan(c *collected) (*planned, error) {
	p := &planned{collected: c, file: b.spool, Settings: c.settings(&b.opt), base: c.least}
	p.scale = c.Scale
	s := c.keys.Sample()
	c.keys, c.present, c.codes, c.bytes = binning.Collector{}, nil, nil, nil
	if c.Type.HasDictionary() || len(s.Keys) == 0 {
		p.base = 0 // as files have it
	}
	done, upper, err := binning.Choose(c.Type, p.Binning, p.Bins, s)
	if err != nil {
		return nil, err
	}
	p.auto, p.Binning = p.Binning == column.Auto, done
	if c.Type == column.Float && len(upper) > 0 {
		if p.scale = c.scaled.chosen(c.least, c.greatest); p.scale > 0 {
			p.base, _ = column.ScaledKey(column.KeyFloat(c.least), p.scale)
			for i, k := range upper {
				upper[i] = column.ScaledBelow(column.KeyFloat(k), p.scale)
			}
			upper = slices.Compact(upper)
		}
	}
	for i := range upper {
		upper[i] -= p.base
	}
	p.upper = upper
	return p, nil
}

// window is a number of consecutive rows.
type window struct{ from, to uint64 }

// each calls f with the codes of consecutive rows of w, block by block, and with a flag
// for each row without a value, whose code is 0. missing is nil if all rows have a
// value. Both slices are valid until f returns.
func (p *planned) each(ctx context.Context, r *blockReader, w window, f func(codes []uint64, missing []bool) error) error {
	first := sort.Search(len(p.blocks), func(i int) bool { return p.blocks[i].end() > w.from })
	for i := first; i < len(p.blocks) && p.blocks[i].first < w.to; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := &p.blocks[i]
		keys, missing, err := r.read(p.file, b)
		if err != nil {
			return err
		}
		p.code(keys, missing)
		from, to := max(w.from, b.first)-b.first, min(w.to, b.end())-b.first
		if missing != nil {
			missing = missing[from:to]
		}
		if err := f(keys[from:to], missing); err != nil {
			return err
		}
	}
	return nil
}

// code makes codes of keys.
func (p *planned) code(keys []uint64, missing []bool) {
	if p.Type == column.Float && p.scale > 0 {
		column.ScaleKeys(keys, p.scale) // arbitrary keys of missing values become arbitrary keys
	}
	for i, m := range missing {
		if m {
			keys[i] = p.base
		}
	}
	for i := range keys {
		keys[i] -= p.base
	}
}

// finder finds the bin of a code: by its highest bits all but a few bins, the rest by
// halving.
type finder struct {
	upper []uint64 // greatest code of each bin
	shift uint
	start []uint32 // by the highest bits of a key: the first bin that reaches such keys
}

const finderBits = 12

func newFinder(upper []uint64) finder {
	f := finder{upper: upper}
	if len(upper) == 0 {
		return f
	}
	greatest := upper[len(upper)-1]
	f.shift = uint(max(bits.Len64(greatest), finderBits) - finderBits)
	for high := uint64(0); high <= greatest>>f.shift; high++ {
		first := sort.Search(len(upper), func(i int) bool { return upper[i] >= high<<f.shift })
		f.start = append(f.start, uint32(first))
	}
	f.start = append(f.start, uint32(len(upper)-1))
	return f
}

// bin is the bin of a code, which must not be above the last bin.
func (f *finder) bin(code uint64) uint32 {
	high := code >> f.shift
	lo, hi := f.start[high], f.start[high+1]
	for lo < hi {
		if mid := (lo + hi) / 2; f.upper[mid] < code {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
