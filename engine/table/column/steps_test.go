package column

import (
	"math/bits"
	"slices"
	"testing"

	"heddle/engine/plan"
)

// column of n bins of one code each; vectors begin at 7.
func binned(e Encoding, n int, missing uint32) *Column {
	c := &Column{Encoding: e, Missing: missing, Vector: 7}
	for i := range n {
		c.Bins = append(c.Bins, Bin{Lo: uint64(i), Hi: uint64(i), Rows: uint32(i + 1)})
	}
	return c
}

// vectorOf is the bins of vector i, as bits; that behind the last one has missing values.
func vectorOf(c *Column, i int) uint64 {
	n := len(c.Bins)
	switch {
	case i == c.Encoding.Vectors(n):
		return 1 << n
	case c.Encoding == Equality:
		return 1 << i
	case c.Encoding == Range:
		return 1<<(i+1) - 1
	}
	return (1<<Span(n) - 1) << i
}

func TestVectorRows(t *testing.T) {
	for _, e := range []Encoding{Equality, Range, Interval} {
		for n := range 12 {
			for _, missing := range []uint32{0, 100} {
				c := binned(e, n, missing)
				rows := c.VectorRows()
				if len(rows) != c.Vectors() {
					t.Fatalf("%v, %d bins: rows of %d vectors, there are %d", e, n, len(rows), c.Vectors())
				}
				for v, got := range rows {
					set, want := vectorOf(c, v), uint64(0)
					for i := range n {
						want += set >> i & 1 * uint64(i+1)
					}
					want += set >> n & 1 * 100
					if got != want {
						t.Errorf("%v, %d bins: vector %d has %d rows, want %d", e, n, v, got, want)
					}
					if r := c.BinsOf(v); set>>n == 0 && set != 1<<(r.To+1)-1<<r.From {
						t.Errorf("%v, %d bins: vector %d has bins %v, want %b", e, n, v, r, set)
					}
				}
			}
		}
	}
}

// evaluate runs the steps of s over a table with a row a bin and, as the last one, a row
// without a value where there is one. It gives the rows, the vectors that were
// read, and the greatest height of the stack.
func evaluate(t *testing.T, c *Column, s *plan.SelectBatch) (rows uint64, read, height int) {
	t.Helper()
	n := len(c.Bins)
	all := uint64(1)<<n - 1
	if c.Missing > 0 {
		all |= 1 << n
	}
	vector := func(v uint32) uint64 {
		i := int(v - c.Vector)
		if i < 0 || i >= c.Vectors() {
			t.Fatalf("%v, %d bins: vector %d of %d", c.Encoding, n, i, c.Vectors())
		}
		return vectorOf(c, i)
	}
	var stack []uint64
	for _, x := range s.Steps {
		switch x.Code {
		case plan.StepAny:
			set := uint64(0)
			for _, v := range s.Operands[x.From:x.To] {
				set |= vector(v)
				read++
			}
			stack = append(stack, set)
			height = max(height, len(stack))
			continue
		case plan.StepNot:
			stack[len(stack)-1] ^= all
			continue
		}
		a, b := stack[len(stack)-2], stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		switch x.Code {
		case plan.StepAnd:
			a &= b
		case plan.StepOr:
			a |= b
		case plan.StepAndNot:
			a &^= b
		}
		stack[len(stack)-1] = a
	}
	if len(stack) != 1 {
		t.Fatalf("%d sets are left", len(stack))
	}
	return stack[0], read, height
}

// TestRuns tests every run of every number of bins up to 40, under every encoding, in
// tables with and without missing values, with and without selecting them.
func TestRuns(t *testing.T) {
	var s plan.SelectBatch
	for _, e := range []Encoding{Equality, Range, Interval} {
		for n := range 41 {
			for choice := range 4 {
				if n > 12 && choice != n%4 { // each in its turn
					continue
				}
				c := binned(e, n, uint32(choice%2))
				missing := choice >= 2
				for i := range n + 1 {
					for j := i - 1; j < n; j++ { // from an empty run on
						var runs []Run
						if i <= j {
							runs = []Run{{i, j}}
						}
						want := uint64(1)<<(j+1) - 1<<i
						most := 2
						if c.Missing > 0 {
							most++
							if missing {
								want |= 1 << n
							}
						}
						if e == Equality {
							most = min(bits.OnesCount64(want), c.Vectors()-bits.OnesCount64(want))
						}
						s.Reset()
						c.Push(&s, runs, missing)
						got, read, height := evaluate(t, c, &s)
						if got != want || read > most || height > 2 {
							t.Fatalf("%v, bins %d to %d of %d, %d missing (%t): rows %b, want %b; %d vectors, at most %d; height %d",
								e, i, j, n, c.Missing, missing, got, want, read, most, height)
						}
					}
				}
			}
		}
	}
}

// TestManyRuns has every set of up to ten bins.
func TestManyRuns(t *testing.T) {
	var s plan.SelectBatch
	for _, e := range []Encoding{Equality, Range, Interval} {
		for n := range 11 {
			for choice := range 4 {
				c := binned(e, n, uint32(choice%2))
				missing := choice >= 2
				for set := range uint64(1) << n {
					want := set
					if missing && c.Missing > 0 {
						want |= 1 << n
					}
					s.Reset()
					runs := runsOf(set)
					c.Push(&s, runs, missing)
					got, _, height := evaluate(t, c, &s)
					if got != want || height > 3 {
						t.Fatalf("%v, bins %b of %d, %d missing (%t): rows %b, height %d", e, set, n, c.Missing, missing, got, height)
					}
					if !slices.Equal(c.complement(c.complement(runs)), runs) || Count(runs) != bits.OnesCount64(set) {
						t.Fatalf("bins %b: %v, complement %v", set, runs, c.complement(runs))
					}
				}
			}
		}
	}
}

func runsOf(set uint64) (runs []Run) {
	for i := 0; set != 0; i++ {
		if set&1 != 0 {
			runs = addBin(runs, i)
		}
		set >>= 1
	}
	return runs
}

// TestUnion has every pair of disjoint sets of seven bins.
func TestUnion(t *testing.T) {
	c := binned(Equality, 7, 0)
	for a := range uint64(128) {
		for b := range uint64(128) {
			if a&b == 0 {
				got := Union(runsOf(a), runsOf(b))
				if !slices.Equal(got, runsOf(a|b)) {
					t.Fatalf("%b and %b: %v", a, b, got)
				}
				if c.Rows(got) != c.Rows(runsOf(a))+c.Rows(runsOf(b)) {
					t.Fatalf("%b and %b: %d rows", a, b, c.Rows(got))
				}
			}
		}
	}
}
