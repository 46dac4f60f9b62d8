package phrase

import (
	"math"

	"heddle/engine/plan"
)

// Best bounds the work of a ranked phrase: a document is passed over if K documents precede it with the
// score that the phrase could have there at most. A phrase is not more frequent than its rarest slot.
type Best struct {
	K      int // at least 1
	Weight uint32
	Norm   plan.Norm

	scores []uint32   // the K greatest so far; a heap with the least one first once there are K
	limits [32]uint64 // by frequency: further documents of this length and longer ones are passed over
}

// Reset empties b and keeps its memory.
func (b *Best) Reset(k int, weight uint32, norm plan.Norm) {
	*b = Best{K: k, Weight: weight, Norm: norm, scores: b.scores[:0]}
}

// Add notes a document with a frequency of the phrase (plan.Made), and returns its score; false: K documents precede it.
func (b *Best) Add(freq uint64, length uint32) (score uint32, ok bool) {
	matches := (freq + 1<<plan.FreqBits - 1) >> plan.FreqBits
	if b.full() && !b.below(matches, length) {
		return 0, false
	}
	score = plan.Contribution(b.Weight, b.Norm.TFOf(freq, length))
	if b.full() {
		if score <= b.scores[0] {
			if freq == matches<<plan.FreqBits && matches < uint64(len(b.limits)) && b.Norm.Of(length) < 1<<31 { // TF rounds nothing: see most
				b.limits[matches] = uint64(length)
			}
			return 0, false
		}
		b.scores[0] = score
		sink(b.scores, 0)
		return score, true
	}
	if b.scores = append(b.scores, score); b.full() {
		for i := b.K/2 - 1; i >= 0; i-- {
			sink(b.scores, i)
		}
		for f := range b.limits {
			b.limits[f] = 1 << 32
		}
	}
	return score, true
}

// sink moves element i of a heap with the least one first down to its place.
func sink(h []uint32, i int) {
	for {
		child := 2*i + 1
		if child+1 < len(h) && h[child+1] < h[child] {
			child++
		}
		if child >= len(h) || h[i] <= h[child] {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}

// full tells whether there are K documents so far.
func (b *Best) full() bool { return b != nil && len(b.scores) == b.K }

// admits tells whether a further document may be among the best, with at most freq matches.
func (b *Best) admits(freq uint64, length uint32) bool {
	switch {
	case !b.full():
		return true
	case !b.below(freq, length):
		return false
	case b.most(freq, length) > b.scores[0]:
		return true
	case freq < uint64(len(b.limits)):
		b.limits[freq] = uint64(length)
	}
	return false
}

// below tells whether a document is below the limits, which admits finds.
func (b *Best) below(freq uint64, length uint32) bool {
	return freq >= uint64(len(b.limits)) || uint64(length) < b.limits[freq]
}

// most is a bound of the score in documents of at least a length. It is a score unless TF rounds the terms of its quotient, by
// less than is added here.
func (b *Best) most(freq uint64, length uint32) uint32 {
	tf := uint64(b.Norm.TFOf(freq<<plan.FreqBits, length))
	if freq >= 128 || b.Norm.Of(length) >= 1<<31 {
		tf += tf>>20 + 16
	}
	return plan.Contribution(b.Weight, uint32(min(tf, math.MaxUint32)))
}
