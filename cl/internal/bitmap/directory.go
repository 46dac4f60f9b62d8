package bitmap

import (
	"fmt"
	"math/bits"
	"slices"

	"heddle/cl/internal/device"
	"heddle/codec/wah"
	"heddle/engine/plan"
)

// directory tells for every vector and tile where its words lie and of which kinds they
// are, so that no kernel has to scan words. Algorithm 2 of Nelson et al. 2020 computes the
// same for each batch. kernels/rows.cl describes the layout. It takes 8 bytes per tile and
// vector, and at most 6 bytes more per 32 groups.
type directory struct {
	tile   int      // groups of a tile, a multiple of 128
	tiles  int      // tiles of a vector
	coarse []uint32 // two words a vector and tile, tile after tile
	fine   []uint32 // masks of a dense tile, then vector after vector
	bases  []uint32 // start of each vector in fine, in units of four words
	ranks  []uint32 // the place of each vector in order
	order  []uint32 // the vectors, see sortVectors
	plain  []uint32 // by tile and vector: not 0 if the tile is plain
	bytes  uint64   // on a device
}

// Classes of a vector in a tile, as in kernels/rows.cl.
const (
	classZero = iota
	classOne
	classDense
	classMixed
	classSparse
)

// sparseMost is the number of words of a sparse tile at most. To OR each of them is less
// work than to search for the word of each group.
func sparseMost(tile int) int { return min(tile/8, 127) }

// newDirectory reads all vectors of t on all cores. The error names a corrupt vector.
func newDirectory(t *plan.Table, tile int) (*directory, error) {
	groups, vectors := int(t.Groups()), len(t.Vectors)
	d := &directory{tile: tile, tiles: (groups + tile - 1) / tile, bases: make([]uint32, vectors)}
	d.coarse, d.plain = make([]uint32, 2*d.tiles*vectors), make([]uint32, d.tiles*vectors)
	fine, counts := make([][]uint32, vectors), make([]uint64, vectors)
	err := device.InParallel(vectors, len(t.Words32)+2*len(t.Words64), func(v int) (err error) {
		if t.Word() == 64 {
			fine[v], counts[v], err = classify(d, t.Vector64(uint32(v)), v, uint64(t.Rows))
		} else {
			fine[v], counts[v], err = classify(d, t.Vector32(uint32(v)), v, uint64(t.Rows))
		}
		if err != nil {
			return fmt.Errorf("vector %d: %w", v, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	d.sortVectors(counts)
	all := make([]uint32, tile/32)
	for i := range all {
		all[i] = ^uint32(0)
	}
	d.fine = appendMasks(d.fine, all)
	for v := range vectors {
		d.bases[v] = uint32(len(d.fine) / 4)
		d.fine = append(d.fine, fine[v]...)
	}
	d.bytes = 4 * uint64(len(d.coarse)+len(d.fine)+len(d.plain)+3*plan.ListAlign)
	return d, nil
}

// sortVectors orders the vectors by the size of their counts, the largest first, and where these have the same
// number of bits, by number. An OR in this order soon has all rows of many groups, and leaves out their other words:
// vectors of a column, which share no rows, follow each other.
func (d *directory) sortVectors(counts []uint64) {
	d.order, d.ranks = make([]uint32, len(counts)), make([]uint32, len(counts))
	for v := range d.order {
		d.order[v] = uint32(v)
	}
	slices.SortStableFunc(d.order, func(a, b uint32) int { return bits.Len64(counts[b]) - bits.Len64(counts[a]) })
	for rank, v := range d.order {
		d.ranks[v] = uint32(rank)
	}
}

// classify checks the words of vector v, writes its entries, and returns its part of fine, less than 2^22 units of
// four words, since rows are counted in 32 bits; and the number of its rows.
func classify[W wah.Word](d *directory, words []W, v int, rows uint64) (fine []uint32, count uint64, err error) {
	if err := wah.Validate(words, rows); err != nil {
		return nil, 0, err
	}
	groups, vectors := int(wah.Groups[W](rows)), len(d.bases)
	masks := make([]uint32, d.tile/32)
	size := wah.GroupBits[W]()
	fill, ones := W(1)<<size, W(1)<<(size-1) // bits of words, see package wah
	n, next := 0, 0                          // words that have started, and the first group of the next one
	for t := range d.tiles {
		from, to := t*d.tile, min((t+1)*d.tile, groups)
		before, going := n, next > from
		var literals, zeroFills, oneFills bool
		if going {
			w := words[n-1]
			zeroFills, oneFills = w&ones == 0, w&ones != 0
		}
		if next < to {
			clear(masks)
		}
		for ; next < to; n++ {
			g := next - from
			masks[g>>5] |= 1 << (g & 31)
			switch w := words[n]; {
			case w&fill == 0:
				literals = true
				count += uint64(bits.OnesCount64(uint64(w)))
				next++
			case w&ones == 0:
				zeroFills = true
				next += int(w &^ fill)
			default:
				oneFills = true
				count += uint64(w&^(fill|ones)) * uint64(size)
				next += int(w &^ (fill | ones))
			}
		}
		started, covering := n-before, n-before
		if going {
			covering++
		}
		class, some, index := classMixed, 0, len(fine)/4
		switch {
		case !literals && !oneFills:
			class = classZero
		case !literals && !zeroFills:
			class = classOne
		case started == d.tile:
			class = classDense
		case covering <= sparseMost(d.tile):
			class, some = classSparse, covering
			before -= covering - started
			fine = appendStarts(fine, masks, going)
		default:
			fine = appendMasks(fine, masks)
		}
		if class < classMixed {
			index = 0
		}
		if class >= classDense && to-from == d.tile && isPlain(started, d.tile) {
			d.plain[t*vectors+v] = 1
		}
		entry := d.coarse[2*(t*vectors+v):]
		entry[0], entry[1] = uint32(before), uint32(class|some<<3|index<<10)
	}
	return fine, count, nil
}

// appendMasks appends the entry of a mixed tile: masks, then for each mask the number of
// words that start before it.
func appendMasks(fine, masks []uint32) []uint32 {
	fine = append(fine, masks...)
	n := uint32(0)
	for i := 0; i < len(masks); i += 2 {
		first := n
		n += uint32(bits.OnesCount32(masks[i]))
		fine = append(fine, first|n<<16)
		n += uint32(bits.OnesCount32(masks[i+1]))
	}
	return align4(fine)
}

// appendStarts appends the entry of a sparse tile: the groups at which words start. The
// first word may have begun in an earlier tile.
func appendStarts(fine, masks []uint32, going bool) []uint32 {
	n := 0
	add := func(g int) {
		if n%2 == 0 {
			fine = append(fine, 0)
		}
		fine[len(fine)-1] |= uint32(g) << (n % 2 * 16)
		n++
	}
	if going {
		add(0)
	}
	for i, m := range masks {
		for ; m != 0; m &= m - 1 {
			add(32*i + bits.TrailingZeros32(m))
		}
	}
	return align4(fine)
}

func align4(words []uint32) []uint32 {
	for len(words)%4 != 0 {
		words = append(words, 0)
	}
	return words
}
