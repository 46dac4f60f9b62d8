package records

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
)

// Vector is a document that is given by its terms and their weights: a JSON object
// with a member a term. The terms stay as they are.
type Vector struct {
	Given   bool
	terms   []byte // the terms, one behind the other
	weights []weight
}

// weight is a term of a vector.
type weight struct {
	end   int // end of the term in Vector.terms; it starts where the term before ends
	value float64
}

func (v *Vector) Reset() { v.Given, v.terms, v.weights = false, v.terms[:0], v.weights[:0] }

const jsonSpace = " \t\r\n"

// UnmarshalJSON reads the object. That b is valid JSON is known.
func (v *Vector) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case 'n': // null
		return nil
	case '{':
	default:
		return fmt.Errorf("a vector is %.20s, not an object of weights", b)
	}
	v.Reset() // an earlier member of the same name has no effect
	v.Given = true
	for rest := bytes.TrimLeft(b[1:], jsonSpace); rest[0] != '}'; {
		n, start := stringEnd(rest), len(v.terms)
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
			return fmt.Errorf("the weight of %.60q is %.20s, no number that can be a weight", v.terms[start:], value)
		}
		v.weights = append(v.weights, w)
		if rest = bytes.TrimLeft(rest[n:], jsonSpace); rest[0] == ',' {
			rest = bytes.TrimLeft(rest[1:], jsonSpace)
		}
	}
	return nil
}

// All yields the terms and their weights, in their order.
func (v *Vector) All() iter.Seq2[[]byte, float64] {
	return func(yield func(term []byte, value float64) bool) {
		start := 0
		for _, w := range v.weights {
			if !yield(v.terms[start:w.end], w.value) {
				return
			}
			start = w.end
		}
	}
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
