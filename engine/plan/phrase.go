package plan

import "context"

// FreqBits is the number of fractional bits of the frequency of a phrase.
const FreqBits = 20

// PhraseKind is the rule by which the positions of a phrase match.
type PhraseKind uint8

const (
	// Exact counts the places where each slot has the distance of the offsets from the first.
	Exact PhraseKind = iota
	// Sloppy adds 1 / (1 + d) for each match of Lucene's SloppyPhraseMatcher, where d is at most Distance: the greatest difference
	// between the positions of the slots, each less the offset of the slot.
	Sloppy
	// Near counts the occurrences of any slot from which the least window with all slots has at most Distance positions, as #uw of Indri.
	// Slots of one list share its positions, and each of their occurrences counts.
	Near
	// Ordered counts the occurrences of the first slot behind which each next slot follows, in order, at most Distance positions behind
	// the slot before, as #od of Indri. Each slot takes its first occurrence behind the slot before.
	Ordered
)

// Phrase is a list that a batch makes: the documents in which lists of a source have certain positions, and the
// frequencies.
type Phrase struct {
	Kind     PhraseKind
	Distance uint32
	Slots    []Slot // at least two
}

// Slot is a place of a phrase, where any of some lists matches.
type Slot struct {
	Offset uint32   // of Exact and Sloppy: number of the place; the first slot has 0, and offsets do not descend
	Lists  []Handle // each once
}

// Made is the list of a phrase: ascending documents and frequencies with FreqBits fractional bits.
type Made struct {
	Docs  []uint32
	Freqs []uint64
	Left  []uint32 // documents that are not looked at yet, beside Docs, in any order

	Candidates uint64 // documents with all slots
	Positions  uint64 // positions that were read of them
}

// PhraseStore is a Store of a backend that makes lists of phrases.
type PhraseStore interface {
	Store
	// Phrases makes the lists of phrases, under the same terms as Match, and adds its cost to st, also that of the search of documents
	// that are left. The caller makes a list that is nil, and looks at the documents that are left.
	Phrases(ctx context.Context, phrases []*Phrase, st *Stats) ([]*Made, error)
	// PhraseDocuments is the number of documents of the rarest words of a batch of phrases from which on Phrases takes less time than
	// pure Go.
	PhraseDocuments() uint64
}

// TFOf is TF of a frequency with FreqBits fractional bits, at most 2^52. It equals TF for whole frequencies.
func (n Norm) TFOf(f uint64, length uint32) uint32 {
	return n.component(f<<(normBits-FreqBits), length)
}
