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
	coder
	file   *temp    // the file with the blocks
	auto   bool     // the settings leave the bins to this package
	upper  []uint64 // greatest code of each bin
	reason string   // of the encoding, in words
}

// plan chooses the bins of a column.
func (b *builder) plan(ctx context.Context, c *collected) (*planned, error) {
	p := &planned{collected: c, file: b.spool, Settings: c.settings(&b.opt)}
	p.stored = column.Column{Type: c.Type, Scale: c.Scale, Base: c.least}
	s, greatest := c.keys.Sample(), c.greatest
	c.keys, c.present, c.codes, c.bytes = binning.Collector{}, nil, nil, nil
	if c.Type.HasDictionary() || len(s.Keys) == 0 {
		p.stored.Base = 0 // as files have it
	}
	done, upper, err := binning.Choose(c.Type, p.Binning, p.Bins, s)
	if err != nil {
		return nil, err
	}
	p.auto, p.Binning = p.Binning == column.Auto && !p.forced, done
	if c.Type == column.Float && len(upper) > 0 {
		if scale := c.scaled.chosen(c.least, c.greatest); scale > 0 {
			p.stored.Scale = scale
			p.stored.Base, _ = column.ScaledKey(column.KeyFloat(c.least), scale)
			greatest, _ = column.ScaledKey(column.KeyFloat(c.greatest), scale)
			for i, k := range upper {
				upper[i] = column.ScaledBelow(column.KeyFloat(k), scale)
			}
			column.ScaleKeys(s.Keys, scale)
		}
	}
	if !s.All {
		s.Keys = nil
	}
	if err := p.choose(ctx, s.Keys, greatest); err != nil {
		return nil, err
	}
	for i, k := range upper {
		upper[i] = p.below(k)
	}
	p.upper = slices.Compact(upper)
	return p, nil
}

// window is a number of consecutive rows.
type window struct{ from, to uint64 }

// each calls f with the codes of consecutive rows of w: see eachKeys. The code of a row without a value is 0.
func (p *planned) each(ctx context.Context, r *blockReader, w window, f func(codes []uint64, missing []bool) error) error {
	return p.eachKeys(ctx, r, w, func(keys []uint64, missing []bool) error {
		p.code(keys, missing)
		return f(keys, missing)
	})
}

// eachKeys calls f with the keys of consecutive rows of w, block by block, and with a flag
// for each row without a value, whose key is arbitrary. missing is nil if all rows have a
// value. f may change both slices, which are valid until it returns.
func (p *planned) eachKeys(ctx context.Context, r *blockReader, w window, f func(keys []uint64, missing []bool) error) error {
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
		if p.Type == column.Float && p.stored.Scale > 0 {
			column.ScaleKeys(keys, p.stored.Scale) // arbitrary keys of missing values become arbitrary keys
		}
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
