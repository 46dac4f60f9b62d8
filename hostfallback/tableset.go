package hostfallback

import (
	"math/bits"

	"heddle/codec/wah"
)

// tileSet is the rows of a tile, row r at bit r%64 of word r/64, with room for what
// words put behind the last one.
type tileSet [1024]uint64

// content says what a set has in a tile. Only the words of one that has some are
// defined.
type content uint8

const (
	none content = iota
	some
	all
)

// among says what groups at a start have: none or all where they lie in one fill.
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

// orWords ORs groups of a vector into set, at most those of a tile, and returns the
// start of those behind. It takes any words.
func orWords[W wah.Word](set *tileSet, words []W, at start, groups uint64) start {
	top := wah.GroupBits[W]()
	size := uint64(top)
	flag := W(1) << top
	row, end := uint64(0), groups*size
	if at.used > 0 && uint(at.word) < uint(len(words)) {
		group, n := wah.FillOf(words[at.word])
		n -= min(n, uint64(at.used))
		if group != 0 {
			set.run(0, min(n, groups)*size)
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
		if w < flag|flag>>1 { // without a branch on fills of zeros, which nobody can foresee
			fill := -(w >> top)
			bits := uint64(w &^ fill)
			set[row/64%1024] |= bits << (row % 64)
			set[(row/64+1)%1024] |= bits >> 1 >> (63 - row%64)
			row += size + size*uint64(fill&(w-flag-1))
			continue
		}
		n := uint64(w - flag - flag>>1)
		set.run(row, min(row+min(n, groups)*size, end))
		row += n * size
	}
	if row > end { // the last word is a fill, and goes on
		_, n := wah.FillOf(words[k-1])
		return start{uint32(k - 1), uint32(n - (row-end)/size)}
	}
	return start{word: uint32(k)}
}

// run sets rows from to to-1.
func (set *tileSet) run(from, to uint64) {
	if from >= to {
		return
	}
	first, last := ^uint64(0)<<(from%64), ^uint64(0)>>(63-(to-1)%64)
	a, b := from/64, (to-1)/64
	if a == b {
		set[a] |= first & last
		return
	}
	set[a] |= first
	fill(set[a+1 : b])
	set[b] |= last
}

// allRows is a set of all rows, to copy from.
var allRows = func() (set tileSet) {
	for i := range set {
		set[i] = ^uint64(0)
	}
	return set
}()

// fill sets all rows of words of a set.
func fill(words []uint64) {
	if len(words) >= 16 {
		copy(words, allRows[:])
		return
	}
	for i := range words {
		words[i] = ^uint64(0)
	}
}

// orRows ORs plain rows into set, eight at a time, and tells whether that has all rows
// now. It may look at rows again.
func orRows(set []uint64, rows [][]uint64) bool {
	for len(rows) > 0 {
		n := min(len(rows), 8)
		r := func(i int) []uint64 { return rows[min(i, n-1)][:len(set)] }
		ones := ^uint64(0)
		if n <= 4 {
			a, b, c, d := r(0), r(1), r(2), r(3)
			for i := range set {
				x := set[i] | a[i] | b[i] | c[i] | d[i]
				set[i] = x
				ones &= x
			}
		} else {
			a, b, c, d, e, f, g, h := r(0), r(1), r(2), r(3), r(4), r(5), r(6), r(7)
			for i := range set {
				x := set[i] | a[i] | b[i] | c[i] | d[i] | e[i] | f[i] | g[i] | h[i]
				set[i] = x
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

// andSet, andNotSet and orSet join y to x; the first two tell whether anything is left.
func andSet(x, y []uint64) bool {
	left := uint64(0)
	y = y[:len(x)]
	for i := range x {
		x[i] &= y[i]
		left |= x[i]
	}
	return left != 0
}

func andNotSet(x, y []uint64) bool {
	left := uint64(0)
	y = y[:len(x)]
	for i := range x {
		x[i] &^= y[i]
		left |= x[i]
	}
	return left != 0
}

func orSet(x, y []uint64) {
	y = y[:len(x)]
	for i := range x {
		x[i] |= y[i]
	}
}

func invertSet(x []uint64) {
	for i := range x {
		x[i] = ^x[i]
	}
}

// countSet is the number of rows of a set.
func countSet(x []uint64) (n int) {
	for _, w := range x {
		n += bits.OnesCount64(w)
	}
	return n
}
