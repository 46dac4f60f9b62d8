package match

import (
	"slices"

	"heddle/cl/internal/lists"
	"heddle/codec"
	"heddle/engine/plan"
)

// unpacking counts the lists that a round could decode before it searches them. All its tiles
// then run in the kernel of plain lists. One list of a gap codec takes all of them to a kernel
// that has groups of 32 work-items and needs more registers and local memory.
type unpacking struct {
	room  uint64 // words of the buffer of decoded lists
	words uint64 // that the lists take in it
	runs  [len(lists.Decoders)]int
}

// room is the number of words that a decoded list takes. Decoders write whole multiples of
// DecodeRound words. In multiples of RunLen, lists have no more runs than the tiles they fill.
func room(n uint32) uint64 { return (uint64(n) + lists.RunLen - 1) / lists.RunLen * lists.RunLen }

// add counts the lists of a query that need features.
func (u *unpacking) add(records []lists.Record, rest []plan.Handle) {
	for _, h := range rest {
		if list := &records[h]; list.With() != 0 {
			n := room(list.Length())
			u.words += n
			u.runs[lists.DecoderOf(list.Codec())] += int(n / lists.RunLen)
		}
	}
}

// bitsOnly tells whether the elements of a query are a bitset and its other lists have bits too, so
// that the kernel of plain lists can join their words.
func bitsOnly(records []lists.Record, elements *lists.Record, rest []plan.Handle) bool {
	return elements.Codec() == codec.Bitset && len(rest)+2 < maxTerms && !slices.ContainsFunc(rest, func(h plan.Handle) bool {
		return records[h].Codec() != codec.Bitset && records[h].Probe() != lists.ProbeBits
	})
}

// pays tells whether a round decodes the lists: if they are there, fit behind its elements and
// are not longer.
func (u *unpacking) pays(elements uint64) bool {
	return u.words > 0 && u.words <= elements && elements+u.words <= u.room
}
