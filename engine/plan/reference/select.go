package reference

import (
	"cmp"
	"fmt"
	"slices"

	"heddle/codec/wah"
	"heddle/engine/plan"
)

// Table holds the bit vectors and stored codes of a table as plain slices.
type Table struct {
	Rows  uint32
	Bits  [][]uint64 // by vector: row r is bit r%64 of word r/64
	Codes [][]uint64 // by column: the code of each row
	Has   [][]uint64 // by column: the rows with a value, as a vector; nil for all rows
}

// DecodeTable decompresses all vectors of t and reads all codes.
func DecodeTable(t *plan.Table) (*Table, error) {
	plain := &Table{Rows: t.Rows}
	for v := range uint32(len(t.Vectors)) {
		set, err := t.Bitset(v)
		if err != nil {
			return nil, fmt.Errorf("vector %d: %w", v, err)
		}
		plain.Bits = append(plain.Bits, set)
	}
	for c := range uint32(len(t.Columns)) {
		codes, has, err := decodeCodes(t, c)
		if err != nil {
			return nil, fmt.Errorf("codes of column %d: %w", c, err)
		}
		plain.Codes, plain.Has = append(plain.Codes, codes), append(plain.Has, has)
	}
	return plain, nil
}

// decodeCodes returns the codes of a column, and its rows with a value.
func decodeCodes(t *plan.Table, c uint32) (codes, has []uint64, err error) {
	column, err := t.Codes(c)
	if err == nil {
		err = column.Validate()
	}
	if err != nil {
		return nil, nil, err
	}
	codes, has = make([]uint64, t.Rows), make([]uint64, wah.Bitset(uint64(t.Rows)))
	for row := range t.Rows {
		if code, ok := column.At(row); ok {
			codes[row] = code
			has[row/64] |= 1 << (row % 64)
		}
	}
	return codes, has, nil
}

// Select returns the rows of each selection of s as a bitset of wah.Bitset(Rows)
// words. It asks each row alone.
func (t *Table) Select(s *plan.SelectBatch) [][]uint64 {
	answers := make([][]uint64, s.Len())
	for i := range answers {
		answers[i] = make([]uint64, wah.Bitset(uint64(t.Rows)))
		steps := s.Selection(i)
		for row := range t.Rows {
			if t.Selected(s, steps, row) {
				answers[i][row/64] |= 1 << (row % 64)
			}
		}
	}
	return answers
}

// Selected tells whether a row passes the steps of a selection of s.
func (t *Table) Selected(s *plan.SelectBatch, steps []plan.Step, row uint32) bool {
	var stack [plan.MaxSets + 1]bool
	top := 0 // stack[0] stays false: the answer without steps
	for _, x := range steps {
		switch x.Code {
		case plan.StepAny:
			top++
			stack[top] = slices.ContainsFunc(s.Operands[x.From:x.To], func(v uint32) bool {
				return t.Bits[v][row/64]>>(row%64)&1 != 0
			})
		case plan.StepAll:
			top++
			stack[top] = true
		case plan.StepAnd:
			top--
			stack[top] = stack[top] && stack[top+1]
		case plan.StepOr:
			top--
			stack[top] = stack[top] || stack[top+1]
		case plan.StepAndNot:
			top--
			stack[top] = stack[top] && !stack[top+1]
		case plan.StepNot:
			stack[top] = !stack[top]
		case plan.StepCheck:
			if stack[top] && t.has(x.Column, row) {
				code := t.Codes[x.Column][row]
				stack[top] = slices.ContainsFunc(s.Ranges[x.From:x.To], func(r plan.CodeRange) bool { return r.Lo <= code && code <= r.Hi })
			} else {
				stack[top] = false
			}
		case plan.StepCompare:
			c := &s.Comparisons[x.From]
			a, b := c.Columns[0], c.Columns[1]
			stack[top] = stack[top] && t.has(a, row) && t.has(b, row) && c.Holds(cmp.Compare(c.Base[0]+t.Codes[a][row], c.Base[1]+t.Codes[b][row]))
		}
	}
	return stack[top]
}

// has tells whether a row has a value in a column.
func (t *Table) has(column, row uint32) bool {
	if int(column) >= len(t.Has) || t.Has[column] == nil {
		return true
	}
	return t.Has[column][row/64]>>(row%64)&1 != 0
}
