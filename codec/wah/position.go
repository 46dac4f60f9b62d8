package wah

// Position is a place between two groups of a vector: in word Word, after Used of its
// groups. The zero value is the start. It belongs to the words that it was made for.
type Position struct {
	Word int
	Used uint64 // less than the number of groups of a fill, 0 for a literal
}

// stretch is the number of words, at first, that OrInto reads one by one before it tries
// blocks again. The number doubles up to maxStretch.
const stretch, maxStretch = 32, 512

// OrInto ORs the len(acc) groups at p into acc, one group a word, and returns the position
// after them. It stops at the end of the vector. For invalid words it reads no more words,
// and the groups are arbitrary.
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
			if w < ones { // without a branch on fills of zeros, which would be unpredictable
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
	if i > size { // the last word is a fill with more groups
		_, n := FillOf(words[k-1])
		return Position{int(k - 1), n - (i - size)}
	}
	return Position{Word: int(k)}
}

// orFill ORs groups of a fill into acc.
func orFill[W Word](acc []W, group W) {
	if group != 0 {
		for i := range acc {
			acc[i] = group
		}
	}
}

// Fill returns the bits of each of the n groups at p, and whether these lie in one fill.
func Fill[W Word](words []W, p Position, n uint64) (group W, ok bool) {
	if uint(p.Word) >= uint(len(words)) || !IsFill(words[p.Word]) {
		return 0, false
	}
	group, have := FillOf(words[p.Word])
	return group, p.Used <= have && n <= have-p.Used
}
