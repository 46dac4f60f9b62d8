package group

import (
	"math"

	"heddle/engine/table/gather"
)

// numbers gives numbers of 32 bits to the codes of a column: 0 to rows without a value, and
// to a code its value plus 1 or, if codes are too large, its place in a table.
type numbers struct {
	of    *gather.Column
	codes *table // nil: the number of a code is the code plus 1
}

func newNumbers(of *gather.Column) *numbers {
	n := &numbers{of: of}
	if of.Last() >= math.MaxUint32 {
		n.codes = new(table)
	}
	return n
}

// size is above all numbers, even of codes that come later.
func (n *numbers) size() uint64 {
	if n.codes != nil {
		return math.MaxUint32
	}
	return n.of.Last() + 2
}

// code is the code of a number above 0.
func (n *numbers) code(number uint32) uint64 {
	if n.codes != nil {
		return n.codes.keys[number-1]
	}
	return uint64(number - 1)
}

func (n *numbers) number(code uint64) uint32 {
	if n.codes != nil {
		return n.codes.id(code) + 1
	}
	return uint32(code) + 1
}

// all replaces the codes of rows by their numbers.
func (n *numbers) all(rows []uint32, codes []uint64) {
	if n.codes != nil {
		for i, c := range codes {
			codes[i] = uint64(n.codes.id(c)) + 1
		}
	} else {
		for i := range codes {
			codes[i]++
		}
	}
	if n.of.HasMissing() {
		for i, row := range rows {
			if n.of.Missing(row) {
				codes[i] = 0
			}
		}
	}
}

// translate is the number here of a number of other, for the same column.
func (n *numbers) translate(other *numbers, number uint32) uint32 {
	if number == 0 || n.codes == nil {
		return number
	}
	return n.number(other.code(number))
}
