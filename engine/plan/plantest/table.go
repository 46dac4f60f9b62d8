package plantest

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"heddle/codec/wah"
	"heddle/engine/plan"
)

// Table is a plan.Table beside the plain bitsets and codes that it was made from.
type Table struct {
	plan.Table
	Bits  [][]uint64 // by vector: row r is bit r%64 of word r/64
	Codes [][]uint64 // by column
}

// NewTable returns a table without vectors, which will have words of 32 or 64 bits.
func NewTable(rows uint32, word int) *Table {
	t := &Table{Table: plan.Table{Rows: rows}}
	if word == 64 {
		t.Words64 = []uint64{}
	} else {
		t.Words32 = []uint32{}
	}
	return t
}

// AddVector compresses a bitset of wah.Bitset(Rows) words, which the table keeps, as
// the next vector, and returns its number.
func (t *Table) AddVector(set []uint64) uint32 {
	t.addRuns(func(yield func(from, to uint64) bool) {
		for i, w := range set {
			for at := uint64(64 * i); w != 0; {
				from := uint64(bits.TrailingZeros64(w))
				n := uint64(bits.TrailingZeros64(^(w >> from)))
				yield(at+from, at+from+n)
				w &^= (1<<n - 1) << from // n of 64 gives a mask of all ones
			}
		}
	})
	t.Bits = append(t.Bits, set)
	return uint32(len(t.Vectors) - 1)
}

// addRuns adds a vector of ascending runs of ones, from from to to-1.
func (t *Table) addRuns(runs iter.Seq2[uint64, uint64]) {
	if t.Word() == 64 {
		t.AppendVector64(vectorOf[uint64](t.Rows, runs))
	} else {
		t.AppendVector32(vectorOf[uint32](t.Rows, runs))
	}
}

func vectorOf[W wah.Word](rows uint32, runs iter.Seq2[uint64, uint64]) []W {
	var b wah.Builder[W]
	for from, to := range runs {
		b.AddRun(from, to)
	}
	return b.AppendTo(nil, uint64(rows))
}

// AddCodes packs the codes of all rows, which the table keeps, as the next column, and
// returns its number.
func (t *Table) AddCodes(tb testing.TB, codes []uint64) uint32 {
	tb.Helper()
	c, err := t.AppendCodes(codes)
	if err != nil {
		tb.Fatal(err)
	}
	t.Codes = append(t.Codes, codes)
	return c
}

// Scan is the oracle: it asks of row after row whether a selection of s takes it, and
// gives a bitset a selection.
func (t *Table) Scan(s *plan.SelectBatch) [][]uint64 {
	want := make([][]uint64, s.Len())
	for i := range want {
		want[i] = make([]uint64, wah.Bitset(uint64(t.Rows)))
		steps := s.Selection(i)
		for row := range t.Rows {
			if t.takes(s, steps, row) {
				want[i][row/64] |= 1 << (row % 64)
			}
		}
	}
	return want
}

func (t *Table) takes(s *plan.SelectBatch, steps []plan.Step, row uint32) bool {
	var stack [plan.MaxSets + 1]bool
	top := 0 // stack[0] is what a selection without steps leaves
	for _, x := range steps {
		switch x.Code {
		case plan.StepAny:
			top++
			stack[top] = false
			for _, v := range s.Operands[x.From:x.To] {
				if t.Bits[v][row/64]>>(row%64)&1 != 0 {
					stack[top] = true
					break
				}
			}
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
			if stack[top] {
				code := t.Codes[x.Column][row]
				stack[top] = slices.ContainsFunc(s.Ranges[x.From:x.To], func(r plan.CodeRange) bool { return r.Lo <= code && code <= r.Hi })
			}
		}
	}
	return stack[top]
}

// Bounded checks what must hold of any results, those of corrupt words too: their
// sizes, that no row lies outside the table, and that the counts are those of the bits.
func (t *Table) Bounded(s *plan.SelectBatch, out *plan.Rows) error {
	if len(out.Counts) != s.Len() {
		return fmt.Errorf("%d counts for %d selections", len(out.Counts), s.Len())
	}
	for i, n := range out.Counts {
		if n > t.Rows {
			return fmt.Errorf("selection %d: %d rows of %d", i, n, t.Rows)
		}
	}
	if s.Output != plan.OutputBits {
		if len(out.Bits) > 0 {
			return fmt.Errorf("%d words of bits that nobody asked for", len(out.Bits))
		}
		return nil
	}
	if out.Stride != wah.Bitset(uint64(t.Rows)) || len(out.Bits) != out.Stride*s.Len() {
		return fmt.Errorf("%d words of bits in strides of %d for %d selections of %d rows", len(out.Bits), out.Stride, s.Len(), t.Rows)
	}
	for i, count := range out.Counts {
		set, n := out.Selection(i), 0
		for _, w := range set {
			n += bits.OnesCount64(w)
		}
		if n != int(count) {
			return fmt.Errorf("selection %d: count %d of a bitset with %d ones", i, count, n)
		}
		if r := t.Rows % 64; r != 0 && set[len(set)-1]>>r != 0 {
			return fmt.Errorf("selection %d: bits %#x behind the last of %d rows", i, set[len(set)-1]>>r, t.Rows)
		}
	}
	return nil
}

// Compare says where out differs from want, the oracle's answer to s.
func (t *Table) Compare(s *plan.SelectBatch, want [][]uint64, out *plan.Rows) error {
	if err := t.Bounded(s, out); err != nil {
		return err
	}
	matches := uint64(0)
	for i, set := range want {
		if s.Output == plan.OutputBits {
			for j, w := range out.Selection(i) {
				if x := w ^ set[j]; x != 0 {
					row := 64*j + bits.TrailingZeros64(x)
					return fmt.Errorf("selection %d (%s): row %d of %d is %d, want %d", i, Describe(s, i), row, t.Rows, w>>(row%64)&1, set[j]>>(row%64)&1)
				}
			}
		}
		n := 0
		for _, w := range set {
			n += bits.OnesCount64(w)
		}
		if int(out.Counts[i]) != n {
			return fmt.Errorf("selection %d (%s): %d of %d rows, want %d", i, Describe(s, i), out.Counts[i], t.Rows, n)
		}
		matches += uint64(n)
	}
	if st := out.Stats; st.Queries != uint64(s.Len()) || st.Matches != matches || st.Wall <= 0 {
		return fmt.Errorf("stats %+v of %d selections with %d matches", st, s.Len(), matches)
	}
	return nil
}

// Describe gives the steps of selection i in short.
func Describe(s *plan.SelectBatch, i int) string {
	var b strings.Builder
	for j, x := range s.Selection(i) {
		if j == 12 {
			return b.String() + "..."
		}
		switch x.Code {
		case plan.StepAny:
			of := s.Operands[x.From:x.To]
			fmt.Fprintf(&b, "any of %d %d, ", len(of), of[:min(len(of), 4)])
		case plan.StepCheck:
			of := s.Ranges[x.From:x.To]
			fmt.Fprintf(&b, "check column %d for %d %d, ", x.Column, len(of), of[:min(len(of), 2)])
		default:
			fmt.Fprintf(&b, "%s, ", [...]string{plan.StepAnd: "and", plan.StepOr: "or", plan.StepAndNot: "andnot", plan.StepNot: "not"}[x.Code])
		}
	}
	return strings.TrimSuffix(b.String(), ", ")
}
