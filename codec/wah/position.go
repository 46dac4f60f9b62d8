package wah

// Position is a place between two groups of a vector: at word Word, of whose groups
// Used are behind. The zero value is the start. Positions of other words than those
// that they are used with give other groups, never a panic.
type Position struct {
	Word int
	Used uint64 // below the number of groups of a fill, 0 at a literal
}

// OrInto ORs the len(acc) groups at p into acc, a group a word, and returns the
// position behind them. Where the vector ends before, so does OrInto. Words need not
// be valid: a fill of no groups is passed over, a literal taken as it is.
func OrInto[W Word](acc, words []W, p Position) Position {
	k, i := p.Word, 0
	if p.Used > 0 && uint(k) < uint(len(words)) {
		group, n := FillOf(words[k])
		if n -= min(n, p.Used); n > uint64(len(acc)) {
			orFill(acc, group)
			return Position{k, p.Used + uint64(len(acc))}
		}
		orFill(acc[:n], group)
		i, k = int(n), k+1
	}
	for i < len(acc) && uint(k) < uint(len(words)) {
		w := words[k]
		if !IsFill(w) {
			acc[i] |= w
			i, k = i+1, k+1
			continue
		}
		group, n := FillOf(w)
		if left := uint64(len(acc) - i); n > left {
			orFill(acc[i:], group)
			return Position{k, left}
		}
		orFill(acc[i:i+int(n)], group)
		i, k = i+int(n), k+1
	}
	return Position{Word: k}
}

// orFill ORs the groups of a fill.
func orFill[W Word](acc []W, group W) {
	if group != 0 {
		for i := range acc {
			acc[i] = group
		}
	}
}

// AppendPositions appends the positions of groups 0, tile, 2*tile and so on below
// groups, which a directory keeps. Of words that end before, the others are the end.
func AppendPositions[W Word](dst []Position, words []W, groups, tile uint64) []Position {
	next, at := uint64(0), uint64(0) // the group to find, and the first one of the word
	for k, w := range words {
		n := uint64(1)
		if IsFill(w) {
			_, n = FillOf(w)
		}
		for ; next < groups && next-at < n; next += tile {
			dst = append(dst, Position{k, next - at})
		}
		at += n
	}
	for ; next < groups; next += tile {
		dst = append(dst, Position{Word: len(words)})
	}
	return dst
}

// Fill gives the bits of one of the n groups at p where they all lie in one fill.
func Fill[W Word](words []W, p Position, n uint64) (group W, ok bool) {
	if uint(p.Word) >= uint(len(words)) || !IsFill(words[p.Word]) {
		return 0, false
	}
	group, have := FillOf(words[p.Word])
	return group, p.Used <= have && n <= have-p.Used
}
