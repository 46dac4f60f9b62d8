package build

import (
	"context"
	"errors"
	"maps"
	"math/bits"
	"slices"

	"heddle/codec/bitslice"
	"heddle/engine/table/column"
)

// mostRanks is the greatest number of ranks of a column.
const mostRanks = 1 << 16

// coder makes codes of the keys of a column.
type coder struct {
	stored  column.Column // type, scale and keys of codes alone
	least   uint64        // key
	ranks   finder        // of differences to the least key
	shift   int           // the unit is 2^shift times an odd number
	inverse uint64        // of the odd number, modulo 2^64
}

// choose sets the unit or the ranks of a column. distinct has all keys of the column, or is nil. The result
// depends on the rows alone: FORMAT.md has the rule.
func (p *planned) choose(ctx context.Context, distinct []uint64, greatest uint64) error {
	c := &p.coder
	c.least, c.inverse = c.stored.Base, 1
	if p.Type.HasDictionary() || p.rows == p.missing {
		return nil
	}
	keys := func(f func(key uint64) bool) error { return p.keysUntil(ctx, f) }
	if distinct != nil {
		keys = func(f func(key uint64) bool) error {
			slices.Values(distinct)(f)
			return nil
		}
	}
	unit := uint64(0)
	err := keys(func(key uint64) bool {
		if d := key - c.least; unit == 0 || d%unit != 0 {
			unit = divisor(unit, d)
		}
		return unit != 1
	})
	if err != nil {
		return err
	}
	if unit > 1 {
		c.setUnit(unit)
	}
	rows := p.rows - p.missing
	width := bits.Len64((greatest - c.least) / max(unit, 1))
	if most := mostPaying(rows, width); distinct == nil && most > 0 {
		if distinct, err = p.distinct(ctx, most); err != nil {
			return err
		}
	}
	n := len(distinct)
	if n == 0 || rankBits(rows, n) >= rows*uint64(width) {
		return nil
	}
	return p.compare(ctx, distinct)
}

// compare sets ranks if their tiles in the sample are smaller by a quarter.
func (p *planned) compare(ctx context.Context, ranks []uint64) error {
	linear := p.coder
	before, sampled, err := p.sampleWords(ctx)
	if err != nil {
		return err
	}
	p.setRanks(ranks)
	after, _, err := p.sampleWords(ctx)
	if 4*(32*after*p.rows+64*uint64(len(ranks))*sampled) > 3*32*before*p.rows {
		p.coder = linear
	}
	return err
}

// sampleWords is the number of words of the tiles of the rows in the sample, and of these rows.
func (p *planned) sampleWords(ctx context.Context) (words, rows uint64, err error) {
	var tile []uint64
	var has bitslice.Set
	var r blockReader
	var buffer []uint32
	end := func() {
		if len(tile) > 0 {
			buffer, _ = bitslice.Append(buffer[:0], tile, has[:])
			words, rows = words+uint64(len(buffer)), rows+uint64(len(tile))
			tile, has = tile[:0], bitslice.Set{}
		}
	}
	for _, w := range p.sample() {
		err := p.each(ctx, &r, w, func(codes []uint64, missing []bool) error {
			for i, code := range codes {
				if n := len(tile); missing == nil || !missing[i] {
					has[n/64] |= 1 << (n % 64)
				}
				if tile = append(tile, code); len(tile) == bitslice.TileRows {
					end()
				}
			}
			return nil
		})
		if err != nil {
			return 0, 0, err
		}
		end()
	}
	return words, rows, nil
}

// rankBits is the number of bits of the codes of n ranks, and of the ranks.
func rankBits(rows uint64, n int) uint64 { return rows*uint64(bits.Len64(uint64(n-1))) + 64*uint64(n) }

// mostPaying is the greatest number of ranks that take fewer bits than codes of the given width; 0 if none do.
func mostPaying(rows uint64, width int) (most int) {
	for narrow := range width {
		if n := int(min((rows*uint64(width-narrow)-1)/64, mostRanks, 1<<min(narrow, 62))); n > most && rows > 0 {
			most = n
		}
	}
	return most
}

// divisor is the greatest common divisor.
func divisor(a, b uint64) uint64 {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// distinct gives the keys of the column, ascending; nil if there are more than most.
func (p *planned) distinct(ctx context.Context, most int) ([]uint64, error) {
	known, last := map[uint64]bool{}, uint64(0)
	err := p.keysUntil(ctx, func(key uint64) bool {
		if key != last || len(known) == 0 {
			known[key], last = true, key
		}
		return len(known) <= most
	})
	if err != nil || len(known) > most {
		return nil, err
	}
	return slices.Sorted(maps.Keys(known)), nil
}

// errEnough ends a pass over the keys.
var errEnough = errors.New("enough")

// keysUntil calls f with the keys of all rows with a value, until it returns false.
func (p *planned) keysUntil(ctx context.Context, f func(key uint64) bool) error {
	err := p.eachKeys(ctx, new(blockReader), window{0, p.rows}, func(keys []uint64, missing []bool) error {
		for i, key := range keys {
			if (missing == nil || !missing[i]) && !f(key) {
				return errEnough
			}
		}
		return nil
	})
	if err == errEnough {
		return nil
	}
	return err
}

func (c *coder) setUnit(unit uint64) {
	c.stored.Unit = unit
	c.shift = bits.TrailingZeros64(unit)
	odd := unit >> c.shift
	c.inverse = 3*odd ^ 2 // correct in 5 bits; each round doubles them
	for range 4 {
		c.inverse *= 2 - odd*c.inverse
	}
}

func (c *coder) setRanks(keys []uint64) {
	c.stored.Base, c.stored.Unit, c.stored.Ranks = 0, 0, keys
	upper := slices.Clone(keys)
	for i := range upper {
		upper[i] -= c.least
	}
	c.ranks = newFinder(upper)
}

// code makes codes of keys.
func (c *coder) code(keys []uint64, missing []bool) {
	for i, m := range missing {
		if m {
			keys[i] = c.least
		}
	}
	if c.stored.Ranks != nil {
		for i, key := range keys {
			keys[i] = uint64(c.ranks.bin(key - c.least))
		}
		return
	}
	for i, key := range keys {
		keys[i] = (key - c.least) >> c.shift * c.inverse
	}
}

// below is the greatest code whose key is not above a key, which is not below the least one.
func (c *coder) below(key uint64) uint64 {
	code, exact := c.stored.Code(key)
	if !exact {
		code--
	}
	return code
}
