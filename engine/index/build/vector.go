package build

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"heddle/engine/index/hdl"
)

// vector is a document that is given by its terms and their weights: a JSON object
// with a member a term. The terms stay as they are.
type vector struct {
	given   bool
	terms   []byte // the terms, one behind the other
	weights []weight
}

// weight is a term of a vector.
type weight struct {
	end   int // end of the term in vector.terms; it starts where the term before ends
	value float64
}

func (v *vector) reset() { v.given, v.terms, v.weights = false, v.terms[:0], v.weights[:0] }

const jsonSpace = " \t\r\n"

// UnmarshalJSON reads the object. That b is valid JSON is known.
func (v *vector) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case 'n': // null
		return nil
	case '{':
	default:
		return fmt.Errorf("a vector is %.20s, not an object of weights", b)
	}
	v.reset() // an earlier member of the same name has no effect
	v.given = true
	for rest := bytes.TrimLeft(b[1:], jsonSpace); rest[0] != '}'; {
		n := stringEnd(rest)
		var err error
		if v.terms, err = appendString(v.terms, rest[:n]); err != nil {
			return err
		}
		rest = bytes.TrimLeft(rest[n:], jsonSpace)
		rest = bytes.TrimLeft(rest[1:], jsonSpace) // colon
		n = bytes.IndexAny(rest, ",}"+jsonSpace)
		w := weight{end: len(v.terms)}
		if w.value, err = strconv.ParseFloat(string(rest[:n]), 64); err != nil {
			var value json.RawMessage
			_ = json.NewDecoder(bytes.NewReader(rest)).Decode(&value) // b is valid JSON
			return fmt.Errorf("the weight of %.60q is %.20s, no number that can be a weight", v.term(len(v.weights), w), value)
		}
		v.weights = append(v.weights, w)
		if rest = bytes.TrimLeft(rest[n:], jsonSpace); rest[0] == ',' {
			rest = bytes.TrimLeft(rest[1:], jsonSpace)
		}
	}
	return nil
}

// term is the term of w, weight i.
func (v *vector) term(i int, w weight) []byte {
	start := 0
	if i > 0 {
		start = v.weights[i-1].end
	}
	return v.terms[start:w.end]
}

// stringEnd is the length of the JSON string that b starts with.
func stringEnd(b []byte) int {
	for i := 1; ; i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

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
func (w *worker) weigh(v *vector) error {
	if !w.plain {
		return errors.New("a vector: its terms are taken as they are, so no folding, stemmer or stop words go with it")
	}
	sum := uint64(0)
	for i, t := range v.weights {
		term := v.term(i, t)
		if len(term) > hdl.MaxTermLen {
			return fmt.Errorf("the term %.60q... has %d bytes; at most %d are possible", term, len(term), hdl.MaxTermLen)
		}
		code, err := w.chunk.weigher.code(t.value)
		if err != nil {
			return fmt.Errorf("document %.60q: the weight of %.60q is %v: %v", w.doc.name, term, t.value, err)
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
	w.length = uint32(sum)
	return nil
}
