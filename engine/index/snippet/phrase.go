package snippet

import (
	"cmp"
	"slices"

	"heddle/engine/plan"
)

// Phrase is a phrase or window of a query. Only the words of its matches are marked, and each match as a whole.
type Phrase struct {
	Kind     plan.PhraseKind
	Distance uint32
	Slots    []Slot
}

// Slot is a place of a phrase, where any of some index terms matches: see plan.Slot.
type Slot struct {
	Offset uint32
	Terms  []string
}

// mostPlaces bounds the places that are looked at for a phrase in one text. Beyond it each word is marked alone.
const mostPlaces = 1 << 20

// place is a word of the text in a slot of a phrase.
type place struct {
	key        int64 // its position; of a sloppy phrase less the offset of the slot
	slot, word int
}

// addPhrase adds the marks of a phrase. Words has the words of all phrases in the text, by their terms.
func (f *Finder) addPhrase(number int, words map[string][]int) {
	p := &f.phrases[number]
	slots, all := make([][]int, len(p.Slots)), 0
	for i, s := range p.Slots {
		for _, t := range s.Terms {
			slots[i] = append(slots[i], words[t]...)
		}
		if slices.Sort(slots[i]); len(slots[i]) == 0 {
			return
		}
		if all += len(slots[i]); all > mostPlaces {
			f.markWords(number)
			return
		}
	}
	switch p.Kind {
	case plan.Exact, plan.Ordered:
		f.addOrdered(number, slots)
	default:
		f.addNear(number, slots)
	}
}

// mark marks words, which ascend, as one. A match that is longer than a snippet is marked word by word.
func (f *Finder) mark(number int, words ...int) {
	m := found{Mark: f.words[words[0]].Mark, of: -1 - number}
	for _, w := range words {
		m.End = max(m.End, f.words[w].End)
	}
	if m.End-m.Start <= f.width {
		f.marks = append(f.marks, m)
		return
	}
	for _, w := range words {
		f.marks = append(f.marks, found{f.words[w].Mark, m.of})
	}
}

// markWords marks each word alone.
func (f *Finder) markWords(number int) {
	for w := range f.words {
		f.mark(number, w)
	}
}

// addOrdered marks exact phrases and ordered windows: each word is the first one that may follow the word before.
func (f *Finder) addOrdered(number int, slots [][]int) {
	p := &f.phrases[number]
	match := make([]int, len(slots))
next:
	for _, first := range slots[0] {
		match[0] = first
		for i := range slots[1:] {
			s := &slots[1+i]
			last := f.words[match[i]].position
			least, most := last+1, last+int64(p.Distance)
			if p.Kind == plan.Exact {
				least = f.words[first].position + int64(p.Slots[1+i].Offset)
				most = least
			}
			for len(*s) > 0 && f.words[(*s)[0]].position < least {
				*s = (*s)[1:]
			}
			if len(*s) == 0 {
				return
			}
			if match[1+i] = (*s)[0]; f.words[match[1+i]].position > most {
				continue next
			}
		}
		f.mark(number, match...)
	}
}

// addNear marks unordered windows and sloppy phrases: from each word on the fewest words with all slots, if they are
// near enough. The slots of a sloppy phrase have a word each.
func (f *Finder) addNear(number int, slots [][]int) {
	p := &f.phrases[number]
	most, distinct := int64(p.Distance)-1, 1
	if p.Kind == plan.Sloppy {
		most, distinct = int64(p.Distance), len(slots)
	}
	var all []place
	for i, words := range slots {
		for _, w := range words {
			key := f.words[w].position
			if p.Kind == plan.Sloppy {
				key -= int64(p.Slots[i].Offset)
			}
			all = append(all, place{key, i, w})
		}
	}
	slices.SortFunc(all, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.word, b.word), cmp.Compare(a.slot, b.slot))
	})
	inSlot, ofWord := map[int]int{}, map[int]int{} // numbers of places in all[i:end]
	end, work := 0, 0
	for i, first := range all {
		for end < len(all) && (len(inSlot) < len(slots) || len(ofWord) < distinct) {
			inSlot[all[end].slot]++
			ofWord[all[end].word]++
			end++
		}
		if len(inSlot) < len(slots) || len(ofWord) < distinct {
			return
		}
		if all[end-1].key-first.key <= most {
			if work += end - i; work > mostPlaces {
				f.markWords(number)
				return
			}
			match := make([]int, 0, end-i)
			for _, a := range all[i:end] {
				match = append(match, a.word)
			}
			slices.Sort(match)
			f.mark(number, match...)
		}
		remove(inSlot, first.slot)
		remove(ofWord, first.word)
	}
}

func remove(counts map[int]int, of int) {
	if counts[of]--; counts[of] == 0 {
		delete(counts, of)
	}
}
