package multivalue

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// of makes the join of rows with so many values.
func of(counts []int) *Join {
	values := 0
	for _, n := range counts {
		values += n
	}
	present, first := make([]uint64, (len(counts)+63)/64), make([]uint64, (values+63)/64)
	at := 0
	for row, n := range counts {
		if n > 0 {
			present[row/64] |= 1 << (row % 64)
			first[at/64] |= 1 << (at % 64)
			at += n
		}
	}
	return &Join{rows: uint32(len(counts)), values: uint32(values), present: count(present), first: count(first)}
}

// TestJoin compares spans and rows with a plain list of the row of each value.
func TestJoin(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var counts []int
		for range rapid.IntRange(0, 40).Draw(r, "runs") {
			n := rapid.SampledFrom([]int{0, 0, 1, 1, 2, 3, 70, 700}).Draw(r, "values")
			counts = append(counts, slices.Repeat([]int{n}, rapid.SampledFrom([]int{1, 1, 2, 70}).Draw(r, "rows"))...)
		}
		j := of(counts)
		var rowOf []int
		for row, n := range counts {
			first, end := j.Span(uint32(row))
			if n == 0 && first != end || n > 0 && (int(first) != len(rowOf) || int(end) != len(rowOf)+n) {
				r.Fatalf("row %d has values %d to %d, want %d from %d on", row, first, end, n, len(rowOf))
			}
			rowOf = append(rowOf, slices.Repeat([]int{row}, n)...)
		}
		values := make([]uint64, (len(rowOf)+63)/64)
		want, got := make([]uint64, (len(counts)+63)/64), make([]uint64, (len(counts)+63)/64)
		every := rapid.SampledFrom([]int{1, 2, 50, 500}).Draw(r, "every")
		for i := rapid.IntRange(0, 9).Draw(r, "from"); i < len(rowOf); i += 1 + (i*7919)%every {
			values[i/64] |= 1 << (i % 64)
			want[rowOf[i]/64] |= 1 << (rowOf[i] % 64)
		}
		if j.RowsOf(values, got); !slices.Equal(got, want) {
			r.Fatalf("rows %x, want %x", got, want)
		}
	})
}
