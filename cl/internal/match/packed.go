package match

import (
	"golang.org/x/sync/errgroup"

	"heddle/cl/internal/device"
)

// countMask selects the number of matches in the word of a tile, packed or not.
const countMask = 1<<16 - 1

// packedTile is a tile of a packed round: its block in the download, see kernels/pack.cl.
type packedTile struct {
	n, width int
	place    int // of the block, in words behind docsAt
}

// tileOf returns tile t of a packed round.
func (x *slot) tileOf(t int) packedTile {
	word := x.Down.Words[t]
	return packedTile{int(word & countMask), int(word >> 16), int(x.Down.Words[x.placesAt+t])}
}

// words returns the number of words of the block.
func (p packedTile) words() int {
	if p.width < 32 {
		return 1 + ((p.n+1)/2*p.width+31)/32*2
	}
	return p.n
}

// unpackPiece is the number of docIDs that one goroutine unpacks. It takes longer than to
// start a goroutine.
const unpackPiece = 1 << 17

// appendPacked appends the docIDs of all tiles of a packed round to docs, on several cores
// if there are many.
func (x *slot) appendPacked(docs []uint32) []uint32 {
	docs, to := device.GrowWords(docs, x.matches)
	blocks := x.Down.Words[x.docsAt:]
	unpackTiles := func(first, end int, to []uint32) {
		for t := first; t < end; t++ {
			p := x.tileOf(t)
			unpack(to, blocks[p.place:], p)
			to = to[p.n:]
		}
	}
	var g errgroup.Group
	first, n := 0, 0
	for t := range x.round.tiles {
		n += x.tileOf(t).n
		if n >= unpackPiece {
			begin, piece := first, to[:n:n]
			g.Go(func() error {
				unpackTiles(begin, t+1, piece)
				return nil
			})
			first, n, to = t+1, 0, to[n:]
		}
	}
	unpackTiles(first, x.round.tiles, to)
	_ = g.Wait()
	return docs
}
