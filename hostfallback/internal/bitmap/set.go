package bitmap

import (
	"math/bits"

	"heddle/codec/wah"
)

// set is the rows of a tile, row r at bit r%64 of word r/64. Behind the last row there is
// room for the rest of the last group.
type set [1024]uint64

// content classifies a set in a tile: it has no row, all rows, or some. The words of the set are defined only
// for some.
type content uint8

const (
	none content = iota
	some
	all
)

// among classifies the groups that begin at a start: none or all if they lie in one fill,
// else some.
func among[W wah.Word](words []W, at start, groups uint64) content {
	if uint(at.word) >= uint(len(words)) {
		return none
	}
	w := words[at.word]
	if !wah.IsFill(w) {
		return some
	}
	group, n := wah.FillOf(w)
	switch {
	case n < uint64(at.used)+groups:
		return some
	case group == 0:
		return none
	}
	return all
}

// orWords ORs the next groups of a vector into to, at most the groups of a tile, and
// returns the start of the groups behind them. It is in bounds for any words.
func orWords[W wah.Word](to *set, words []W, at start, groups uint64) start {
	top := wah.GroupBits[W]()
	size := uint64(top)
	flag := W(1) << top
	row, end := uint64(0), groups*size
	if at.used > 0 && uint(at.word) < uint(len(words)) {
		group, n := wah.FillOf(words[at.word])
		n -= min(n, uint64(at.used))
		if group != 0 {
			to.run(0, min(n, groups)*size)
		}
		if n > groups {
			return start{at.word, at.used + uint32(groups)}
		}
		row = n * size
		at = start{word: at.word + 1}
	}
	k := min(int(at.word), len(words))
	for ; k < len(words) && row < end; k++ {
		w := words[k]
		if w < flag|flag>>1 { // without a branch on fills of zeros, which would be mispredicted
			fill := -(w >> top)
			bits := uint64(w &^ fill)
			to[row/64%1024] |= bits << (row % 64)
			to[(row/64+1)%1024] |= bits >> 1 >> (63 - row%64)
			row += size + size*uint64(fill&(w-flag-1))
			continue
		}
		n := uint64(w - flag - flag>>1)
		to.run(row, min(row+min(n, groups)*size, end))
		row += n * size
	}
	if row > end { // the last word is a fill that continues behind the tile
		_, n := wah.FillOf(words[k-1])
		return start{uint32(k - 1), uint32(n - (row-end)/size)}
	}
	return start{word: uint32(k)}
}

// run adds rows from to to-1.
func (s *set) run(from, to uint64) {
	if from >= to {
		return
	}
	first, last := ^uint64(0)<<(from%64), ^uint64(0)>>(63-(to-1)%64)
	a, b := from/64, (to-1)/64
	if a == b {
		s[a] |= first & last
		return
	}
	s[a] |= first
	fill(s[a+1 : b])
	s[b] |= last
}

// allRows is a set of all rows, the source of copies.
var allRows = func() (s set) {
	for i := range s {
		s[i] = ^uint64(0)
	}
	return s
}()

// fill adds all rows to the given words of a set.
func fill(words []uint64) {
	if len(words) >= 16 {
		copy(words, allRows[:])
		return
	}
	for i := range words {
		words[i] = ^uint64(0)
	}
}

// orRows ORs plain rows into to, eight at a time, and reports whether to now has all
// rows. It may read a row more than once.
func orRows(to []uint64, rows [][]uint64) bool {
	for len(rows) > 0 {
		n := min(len(rows), 8)
		r := func(i int) []uint64 { return rows[min(i, n-1)][:len(to)] }
		ones := ^uint64(0)
		if n <= 4 {
			a, b, c, d := r(0), r(1), r(2), r(3)
			for i := range to {
				x := to[i] | a[i] | b[i] | c[i] | d[i]
				to[i] = x
				ones &= x
			}
		} else {
			a, b, c, d, e, f, g, h := r(0), r(1), r(2), r(3), r(4), r(5), r(6), r(7)
			for i := range to {
				x := to[i] | a[i] | b[i] | c[i] | d[i] | e[i] | f[i] | g[i] | h[i]
				to[i] = x
				ones &= x
			}
		}
		if ones == ^uint64(0) {
			return true
		}
		rows = rows[n:]
	}
	return false
}

// andSet sets x to x AND y and reports whether any row is left.
func andSet(x, y []uint64) bool {
	left := uint64(0)
	y = y[:len(x)]
	for i := range x {
		x[i] &= y[i]
		left |= x[i]
	}
	return left != 0
}

// andNotSet sets x to x AND NOT y and reports whether any row is left.
func andNotSet(x, y []uint64) bool {
	left := uint64(0)
	y = y[:len(x)]
	for i := range x {
		x[i] &^= y[i]
		left |= x[i]
	}
	return left != 0
}

// orSet sets x to x OR y.
func orSet(x, y []uint64) {
	y = y[:len(x)]
	for i := range x {
		x[i] |= y[i]
	}
}

// invertSet sets x to NOT x.
func invertSet(x []uint64) {
	for i := range x {
		x[i] = ^x[i]
	}
}

// countSet returns the number of rows in a set.
func countSet(x []uint64) (n int) {
	for _, w := range x {
		n += bits.OnesCount64(w)
	}
	return n
}
