package plantest

import (
	"fmt"
	"math/bits"
	"runtime"
	"strings"
	"time"

	"heddle/codec/wah"
	"heddle/engine/plan"
)

// Took reports whether d may be the time of some work: above 0, or 0 on Windows, whose clock may have steps of
// milliseconds.
func Took(d time.Duration) bool { return d > 0 || d == 0 && runtime.GOOS == "windows" }

// Bounded checks the rules that any result keeps, over damaged words too: sizes,
// no row outside the table, and counts that agree with the bits.
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
			return fmt.Errorf("%d words of bits without OutputBits", len(out.Bits))
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
			return fmt.Errorf("selection %d: bits %#x after the last of %d rows", i, set[len(set)-1]>>r, t.Rows)
		}
	}
	return nil
}

// Compare reports the first difference between out and want, the reference answer
// to s.
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
	if st := out.Stats; st.Queries != uint64(s.Len()) || st.Matches != matches || !Took(st.Wall) {
		return fmt.Errorf("stats %+v of %d selections with %d matches", st, s.Len(), matches)
	}
	return nil
}

// Describe returns the steps of selection i as a short text.
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
		case plan.StepCompare:
			fmt.Fprintf(&b, "compare %+v, ", s.Comparisons[x.From])
		default:
			fmt.Fprintf(&b, "%s, ", [...]string{plan.StepAnd: "and", plan.StepOr: "or", plan.StepAndNot: "andnot", plan.StepNot: "not", plan.StepAll: "all"}[x.Code])
		}
	}
	return strings.TrimSuffix(b.String(), ", ")
}
