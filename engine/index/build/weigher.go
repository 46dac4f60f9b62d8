package build

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"heddle/engine/index/build/records"
	"heddle/engine/index/hdl"
)

// weigher turns weights into numbers of 32 bits, as postings store them, and keeps
// statistics. Frequencies stay unchanged. Other weights become a float32 with its bits
// reversed, so that weights of few digits stay small.
type weigher struct {
	impacts bool    // weights of any size will be quantised; else they are frequencies
	largest float32 // the largest weight so far
	broken  bool    // some weight is no whole number
}

// code is the number of a weight, 0 of a weight of 0, which is no posting.
func (w *weigher) code(value float64) (uint32, error) {
	whole := value == math.Trunc(value)
	switch {
	case value == 0:
		return 0, nil
	case value < 0:
		return 0, errors.New("weights are positive, or 0 for no posting")
	case w.impacts && value > math.MaxFloat32:
		return 0, fmt.Errorf("weights are at most %v", float32(math.MaxFloat32))
	case w.impacts:
		f := max(float32(value), math.SmallestNonzeroFloat32)
		w.largest = max(w.largest, f)
		w.broken = w.broken || !whole
		return bits.Reverse32(math.Float32bits(f)), nil
	case !whole:
		return 0, errors.New("without impacts, weights are whole numbers")
	case value > math.MaxUint32:
		return 0, fmt.Errorf("without impacts, weights are at most %d", uint32(math.MaxUint32))
	}
	return uint32(value), nil
}

// decode is the weight that code made a number of.
func (w *weigher) decode(code uint32) float32 {
	return math.Float32frombits(bits.Reverse32(code))
}

// join adds the statistics of another weigher.
func (w *weigher) join(other *weigher) {
	w.largest = max(w.largest, other.largest)
	w.broken = w.broken || other.broken
}

// weigh stores the terms of a vector as the terms of a document. Its length is the sum of
// its frequencies; with impacts, the number of its terms.
func (w *worker) weigh(v *records.Vector) error {
	if !w.plain {
		return errors.New("a vector: its terms are taken as they are, so no folding, stemmer or stop words go with it")
	}
	sum := uint64(0)
	for term, value := range v.All() {
		if len(term) > hdl.MaxTermLen {
			return fmt.Errorf("the term %.60q... has %d bytes; at most %d are possible", term, len(term), hdl.MaxTermLen)
		}
		code, err := w.chunk.weigher.code(value)
		if err != nil {
			return fmt.Errorf("document %.60q: the weight of %.60q is %v: %v", w.doc.Name, term, value, err)
		}
		if code == 0 {
			continue
		}
		if w.tally.Count(term, code) > 0 {
			return fmt.Errorf("the term %.60q comes twice in a vector", term)
		}
		if sum++; !w.chunk.weigher.impacts {
			sum += uint64(code) - 1
		}
	}
	if sum > math.MaxUint32 {
		return fmt.Errorf("the weights of a vector add up to %d; at most %d are possible", sum, uint32(math.MaxUint32))
	}
	w.lengths[0] = uint32(sum)
	return nil
}
