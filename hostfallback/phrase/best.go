package phrase

import (
	"math"

	"heddle/engine/plan"
)

// Best bounds the work of a ranked phrase: a document is passed over if K documents before it have at least the
// score that the phrase could have there. A phrase is not more frequent than its rarest slot.
type Best struct {
	K      int // at least 1
	Weight uint32
	Norm   plan.Norm

	scores []uint32   // the K greatest so far, a heap with the least one first
	limits [32]uint64 // by frequency: the least length of documents that are passed over
	known  uint32     // bits of the frequencies whose limits are known
}

// add notes the score of a document.
func (b *Best) add(freq uint64, length uint32) {
	score := plan.Contribution(b.Weight, b.Norm.TFOf(freq, length))
	h, i := b.scores, len(b.scores)
	switch {
	case i < b.K:
		for h = append(h, score); i > 0 && h[(i-1)/2] > score; i = (i - 1) / 2 {
			h[i] = h[(i-1)/2]
		}
		if b.scores = h; len(h) == b.K {
			for f := range b.limits {
				b.limits[f] = 1 << 32
			}
		}
	case h[0] >= score:
		return
	default:
		for i = 0; 2*i+1 < len(h); {
			child := 2*i + 1
			if child+1 < len(h) && h[child+1] < h[child] {
				child++
			}
			if h[child] >= score {
				break
			}
			h[i], i = h[child], child
		}
	}
	h[i], b.known = score, 0
}

// admits tells whether a document may be among the best, with at most freq matches.
func (b *Best) admits(freq uint64, length uint32) bool {
	switch {
	case !b.full():
		return true
	case freq >= uint64(len(b.limits)):
		return b.most(freq, length) > b.scores[0]
	}
	return uint64(length) < b.limit(freq)
}

// full tells whether there are K documents so far.
func (b *Best) full() bool { return b != nil && len(b.scores) == b.K }

// limit returns the least length of documents that are passed over. b is full, and freq is below the number of limits.
func (b *Best) limit(freq uint64) uint64 {
	if b.known>>freq&1 == 0 {
		least, end := uint64(0), b.limits[freq] // limits descend
		for least < end {
			if middle := (least + end) / 2; b.most(freq, uint32(middle)) <= b.scores[0] {
				end = middle
			} else {
				least = middle + 1
			}
		}
		b.limits[freq], b.known = end, b.known|1<<freq
	}
	return b.limits[freq]
}

// most is a bound of the score in documents of at least a length. TF rounds both terms of its quotient, by less than is added here.
func (b *Best) most(freq uint64, length uint32) uint32 {
	tf := uint64(b.Norm.TFOf(freq<<plan.FreqBits, length))
	return plan.Contribution(b.Weight, uint32(min(tf+tf>>20+16, math.MaxUint32)))
}
