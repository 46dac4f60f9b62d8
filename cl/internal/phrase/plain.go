package phrase

import (
	"maps"
	"math"
	"slices"

	"heddle/engine/plan"
)

// plain makes the list of a phrase from the positions by list and document.
func plain(at []map[uint32][]uint32, p *plan.Phrase) (made plan.Made) {
	some := map[uint32]bool{}
	for _, h := range p.Slots[0].Lists {
		for d := range at[h] {
			some[d] = true
		}
	}
documents:
	for _, d := range slices.Sorted(maps.Keys(some)) {
		words := make([][]int64, len(p.Slots))
		for i, s := range p.Slots {
			for _, h := range s.Lists {
				for _, x := range at[h][d] {
					shifted := int64(x)
					if p.Kind == plan.Exact || p.Kind == plan.Sloppy {
						shifted -= int64(s.Offset)
					}
					words[i] = append(words[i], shifted)
				}
			}
			if len(words[i]) == 0 {
				continue documents
			}
			slices.Sort(words[i])
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
		return sloppy(p, words)
	}
	n := uint64(0)
	for i, positions := range words {
		if i > 0 && p.Kind != plan.Near {
			break
		}
		for k, x := range positions {
			twice := p.Kind == plan.Exact && k > 0 && positions[k-1] == x
			if !twice && matches(p, words, i, x) {
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

// walk is a walk of a sloppy phrase over the positions of its words, each less the offset.
type walk struct {
	*plan.Phrase
	words [][]int64
	at    []int // by word: its present position
}

// sloppy adds the weights of the matches up. The word with the least position, the first one of equal ones, moves on until it is behind the
// least of the others; its last position before has the match. Repeated words have different positions.
func sloppy(p *plan.Phrase, words [][]int64) (sum uint64) {
	w := walk{p, words, make([]int, len(words))}
	for i, s := range p.Slots {
		for _, t := range p.Slots[:i] {
			if t.Lists[0] == s.Lists[0] {
				w.at[i]++
			}
		}
		if w.at[i] >= len(words[i]) {
			return 0
		}
	}
	for more := true; more; {
		s, next := 0, int64(math.MaxInt64)
		for i := range words {
			if w.position(i) < w.position(s) {
				s = i
			}
		}
		for i := range words {
			if i != s {
				next = min(next, w.position(i))
			}
		}
		length := w.end() - w.position(s)
		for more = w.step(s); more && w.position(s) <= next; more = w.step(s) {
			length = min(length, w.end()-w.position(s))
		}
		if length <= int64(p.Distance) {
			sum += (1<<(plan.FreqBits+1)/uint64(1+length) + 1) / 2 // rounded
		}
	}
	return sum
}

func (w *walk) position(i int) int64 { return w.words[i][w.at[i]] }

// end is the greatest position of a word.
func (w *walk) end() int64 {
	end := int64(math.MinInt64)
	for i := range w.words {
		end = max(end, w.position(i))
	}
	return end
}

// step moves a word on, and then, as long as that one is at the position of the same word elsewhere in the phrase, the one of both that lies
// behind. It returns false at the end of the positions.
func (w *walk) step(s int) bool {
	for s >= 0 {
		if w.at[s]++; w.at[s] == len(w.words[s]) {
			return false
		}
		twin := -1
		for i := range w.at {
			if twin < 0 && i != s && w.Slots[i].Lists[0] == w.Slots[s].Lists[0] && w.at[i] == w.at[s] {
				twin = i
			}
		}
		if twin >= 0 && w.position(s) < w.position(twin) {
			twin = s
		}
		s = twin
	}
	return true
}
