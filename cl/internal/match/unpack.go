package match

import "unsafe"

// unpackDocs is the number of docIDs that unpack writes at a time, in pairs: one in each half
// of a word of 64 bits.
const (
	unpackDocs  = 16
	unpackPairs = unpackDocs / 2
	both        = 1<<32 | 1 // a number in both halves
)

// unpackSlack is the number of words behind a block that unpack may read.
const unpackSlack = 28 * unpackDocs / 32

// unpack writes the docIDs of a block, see kernels/pack.cl, to the front of docs. Words of docs
// behind them are undefined after it. There are unpackSlack words behind the block.
func unpack(docs, block []uint32, p packedTile) {
	if p.width == 32 {
		copy(docs[:p.n], block)
		return
	}
	base, step := uint64(block[0])*both, p.width*unpackDocs/32
	block = block[1:]
	for n := p.n; n > 0; n -= unpackDocs {
		in := unsafe.Pointer(&block[:step][0])
		if len(docs) >= unpackDocs {
			unpackGroup((*[unpackPairs]uint64)(unsafe.Pointer(&docs[0])), in, p.width, base)
			docs = docs[unpackDocs:]
		} else {
			var last [unpackPairs]uint64
			unpackGroup(&last, in, p.width, base)
			copy(docs[:n], unsafe.Slice((*uint32)(unsafe.Pointer(&last)), n))
		}
		block = block[step:]
	}
}

// unpackGroup unpacks the pairs of a group. The compiler folds the widths into constants.
func unpackGroup(to *[unpackPairs]uint64, in unsafe.Pointer, width int, base uint64) {
	switch width {
	case 4:
		w := (*[1]uint64)(in)
		to[0] = whole(w[0], 0, 4) + base
		to[1] = whole(w[0], 4, 4) + base
		to[2] = whole(w[0], 8, 4) + base
		to[3] = whole(w[0], 12, 4) + base
		to[4] = whole(w[0], 16, 4) + base
		to[5] = whole(w[0], 20, 4) + base
		to[6] = whole(w[0], 24, 4) + base
		to[7] = whole(w[0], 28, 4) + base
	case 8:
		w := (*[2]uint64)(in)
		to[0] = whole(w[0], 0, 8) + base
		to[1] = whole(w[0], 8, 8) + base
		to[2] = whole(w[0], 16, 8) + base
		to[3] = whole(w[0], 24, 8) + base
		to[4] = whole(w[1], 0, 8) + base
		to[5] = whole(w[1], 8, 8) + base
		to[6] = whole(w[1], 16, 8) + base
		to[7] = whole(w[1], 24, 8) + base
	case 12:
		w := (*[3]uint64)(in)
		to[0] = whole(w[0], 0, 12) + base
		to[1] = whole(w[0], 12, 12) + base
		to[2] = parted(w[0], w[1], 24, 12) + base
		to[3] = whole(w[1], 4, 12) + base
		to[4] = whole(w[1], 16, 12) + base
		to[5] = parted(w[1], w[2], 28, 12) + base
		to[6] = whole(w[2], 8, 12) + base
		to[7] = whole(w[2], 20, 12) + base
	case 16:
		w := (*[4]uint64)(in)
		to[0] = whole(w[0], 0, 16) + base
		to[1] = whole(w[0], 16, 16) + base
		to[2] = whole(w[1], 0, 16) + base
		to[3] = whole(w[1], 16, 16) + base
		to[4] = whole(w[2], 0, 16) + base
		to[5] = whole(w[2], 16, 16) + base
		to[6] = whole(w[3], 0, 16) + base
		to[7] = whole(w[3], 16, 16) + base
	case 20:
		w := (*[5]uint64)(in)
		to[0] = whole(w[0], 0, 20) + base
		to[1] = parted(w[0], w[1], 20, 20) + base
		to[2] = whole(w[1], 8, 20) + base
		to[3] = parted(w[1], w[2], 28, 20) + base
		to[4] = parted(w[2], w[3], 16, 20) + base
		to[5] = whole(w[3], 4, 20) + base
		to[6] = parted(w[3], w[4], 24, 20) + base
		to[7] = whole(w[4], 12, 20) + base
	case 24:
		w := (*[6]uint64)(in)
		to[0] = whole(w[0], 0, 24) + base
		to[1] = parted(w[0], w[1], 24, 24) + base
		to[2] = parted(w[1], w[2], 16, 24) + base
		to[3] = whole(w[2], 8, 24) + base
		to[4] = whole(w[3], 0, 24) + base
		to[5] = parted(w[3], w[4], 24, 24) + base
		to[6] = parted(w[4], w[5], 16, 24) + base
		to[7] = whole(w[5], 8, 24) + base
	case 28:
		w := (*[7]uint64)(in)
		to[0] = whole(w[0], 0, 28) + base
		to[1] = parted(w[0], w[1], 28, 28) + base
		to[2] = parted(w[1], w[2], 24, 28) + base
		to[3] = parted(w[2], w[3], 20, 28) + base
		to[4] = parted(w[3], w[4], 16, 28) + base
		to[5] = parted(w[4], w[5], 12, 28) + base
		to[6] = parted(w[5], w[6], 8, 28) + base
		to[7] = whole(w[6], 4, 28) + base
	}
}

// whole returns the pair whose bits begin at bit `at` of both halves of w.
func whole(w uint64, at, width int) uint64 { return w >> at & ((1<<width - 1) * both) }

// parted returns the pair whose bits begin at bit `at` of both halves of w and end in next.
func parted(w, next uint64, at, width int) uint64 {
	return w>>at&((1<<(32-at)-1)*both) | next<<(32-at)&((1<<width-1)*both&^((1<<(32-at)-1)*both))
}
