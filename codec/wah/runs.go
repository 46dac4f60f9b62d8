package wah

import (
	"iter"
	"math/bits"
)

// Runs yields the maximal runs of ones of a vector of rows rows, ascending: rows from to
// to-1. For invalid words it yields some runs below rows.
func Runs[W Word](words []W, rows uint64) iter.Seq2[uint64, uint64] {
	return func(yield func(from, to uint64) bool) {
		from, to := uint64(0), uint64(0) // the current run
		add := func(a, b uint64) bool {
			if a == to {
				to = b
				return true
			}
			before, end := from, to
			from, to = a, b
			return before == end || yield(before, end)
		}
		at, g := uint64(0), GroupBits[W]()
		for _, w := range words {
			if at >= rows {
				break
			}
			if IsFill(w) {
				group, n := FillOf(w)
				n = min(n, Groups[W](rows-at))
				if group != 0 && n > 0 && !add(at, min(at+n*g, rows)) {
					return
				}
				at += n * g
				continue
			}
			rest := uint64(w)
			if left := rows - at; left < g {
				rest &= 1<<left - 1
			}
			for end := uint(0); rest != 0; {
				start := end + uint(bits.TrailingZeros64(rest))
				rest >>= start - end
				end = start + uint(bits.TrailingZeros64(^rest))
				rest >>= end - start
				if !add(at+uint64(start), at+uint64(end)) {
					return
				}
			}
			at += g
		}
		if from < to {
			yield(from, to)
		}
	}
}

// Rows yields the ones of a vector of rows rows, ascending. For invalid words it yields
// some numbers below rows.
func Rows[W Word](words []W, rows uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for from, to := range Runs(words, rows) {
			for ; from < to; from++ {
				if !yield(from) {
					return
				}
			}
		}
	}
}
