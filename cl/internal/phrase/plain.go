package phrase

import (
	"maps"
	"math"
	"slices"

	"heddle/engine/plan"
)

// plain makes the list of a phrase from the positions by list and document.
func plain(at []map[uint32][]uint32, p *plan.Phrase) (made plan.Made) {
documents:
	for _, d := range slices.Sorted(maps.Keys(at[p.Slots[0].Lists[0]])) {
		words := make([][]int64, len(p.Slots))
		for i, s := range p.Slots {
			positions := at[s.Lists[0]][d]
			if len(positions) == 0 {
				continue documents
			}
			for _, x := range positions {
				shifted := int64(x)
				if p.Kind == plan.Exact || p.Kind == plan.Sloppy {
					shifted -= int64(s.Offset)
				}
				words[i] = append(words[i], shifted)
			}
		}
		if f := frequency(p, words); f > 0 {
			made.Docs, made.Freqs = append(made.Docs, d), append(made.Freqs, f)
		}
	}
	return made
}

// frequency is the frequency of a phrase in a document with these positions of the words.
func frequency(p *plan.Phrase, words [][]int64) uint64 {
	if p.Kind == plan.Sloppy {
		return sloppy(int64(p.Distance), words)
	}
	n := uint64(0)
	for i, positions := range words {
		if i > 0 && p.Kind != plan.Near {
			break
		}
		for _, x := range positions {
			if matches(p, words, i, x) {
				n++
			}
		}
	}
	return n << plan.FreqBits
}

// matches tells whether a match begins at a position of word i.
func matches(p *plan.Phrase, words [][]int64, i int, from int64) bool {
	last := from
	for j, positions := range words {
		least := from // of the next position that counts
		switch {
		case j == i:
			continue
		case p.Kind == plan.Ordered:
			least = last + 1
		case p.Kind == plan.Near && j < i:
			least++
		}
		k, _ := slices.BinarySearch(positions, least)
		if k == len(positions) || p.Kind == plan.Exact && positions[k] != from ||
			p.Kind == plan.Near && positions[k]-from >= int64(p.Distance) || p.Kind == plan.Ordered && positions[k]-last > int64(p.Distance) {
			return false
		}
		last = positions[k]
	}
	return true
}

// sloppy adds the weights of the matches up. The word with the least position, the first one of equal ones, passes over all its positions
// up to the least one of the others: the last of them has the shortest match.
func sloppy(distance int64, words [][]int64) (sum uint64) {
	words = slices.Clone(words)
	for {
		s, next, end := 0, int64(math.MaxInt64), int64(math.MinInt64)
		for i, w := range words {
			if w[0] < words[s][0] {
				s = i
			}
			end = max(end, w[0])
		}
		for i, w := range words {
			if i != s {
				next = min(next, w[0])
			}
		}
		n, _ := slices.BinarySearch(words[s], next+1)
		if length := end - words[s][n-1]; length <= distance {
			sum += (1<<(plan.FreqBits+1)/uint64(1+length) + 1) / 2 // rounded
		}
		if words[s] = words[s][n:]; len(words[s]) == 0 {
			return sum
		}
	}
}
