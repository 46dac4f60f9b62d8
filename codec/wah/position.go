package wah

// Position is a place between two groups of a vector: at word Word, of whose groups
// Used are behind. The zero value is the start. At a position of other words there
// are other groups, or none.
type Position struct {
	Word int
	Used uint64 // below the number of groups of a fill, 0 at a literal
}

// stretch is how many words OrInto takes one by one before it tries blocks again.
const stretch, maxStretch = 32, 512

// OrInto ORs the len(acc) groups at p into acc, a group a word, and returns the
// position behind them. Where the vector ends before, so does OrInto. Of words that
// are no vector it reads as many at most, and gives any groups.
func OrInto[W Word](acc, words []W, p Position) Position {
	k, i, size := uint(p.Word), uint64(0), uint64(len(acc))
	if p.Used > 0 && k < uint(len(words)) {
		group, n := FillOf(words[k])
		if n -= min(n, p.Used); n > size {
			orFill(acc, group)
			return Position{p.Word, p.Used + size}
		}
		orFill(acc[:n], group)
		i, k = n, k+1
	}
	zeros, ones, top, next := flag[W](), flag[W]()|value[W](), GroupBits[W](), uint(stretch)
	for i < size && k < uint(len(words)) {
		n := orBlocks(acc[i:], words[k:])
		i, k = i+uint64(n), k+uint(n)
		if n >= stretch {
			next = stretch
		}
		for end := min(k+next, uint(len(words))); k < end && i < uint64(len(acc)); k++ {
			w := words[k]
			if w < ones { // without a branch on fills of zeros, which nobody can foresee
				fill := -(w >> top)
				acc[i] |= w &^ fill
				i += uint64(fill&(w-zeros-1)) + 1
				continue
			}
			n := uint64(w - ones)
			orFill(acc[i:i+min(n, size-i)], Ones[W]())
			i += n
		}
		next = min(2*next, maxStretch)
	}
	if i > size { // the last word is a fill, and goes on
		_, n := FillOf(words[k-1])
		return Position{int(k - 1), n - (i - size)}
	}
	return Position{Word: int(k)}
}

// orFill ORs the groups of a fill.
func orFill[W Word](acc []W, group W) {
	if group != 0 {
		for i := range acc {
			acc[i] = group
		}
	}
}

// Fill returns the bits of one of the n groups at p where they all lie in one fill.
func Fill[W Word](words []W, p Position, n uint64) (group W, ok bool) {
	if uint(p.Word) >= uint(len(words)) || !IsFill(words[p.Word]) {
		return 0, false
	}
	group, have := FillOf(words[p.Word])
	return group, p.Used <= have && n <= have-p.Used
}
