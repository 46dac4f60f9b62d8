package multivalue

import (
	"fmt"
	"testing"
)

// BenchmarkRowsOf joins values of 4 Mi rows with two values each: every value, or one of 64.
func BenchmarkRowsOf(b *testing.B) {
	counts := make([]int, 1<<22)
	for i := range counts {
		counts[i] = 2
	}
	j := of(counts)
	rows := make([]uint64, len(j.present.set))
	for _, every := range []int{1, 64} {
		values := make([]uint64, len(j.first.set))
		for v := 0; v < int(j.values); v += every {
			values[v/64] |= 1 << (v % 64)
		}
		b.Run(fmt.Sprintf("every=%d", every), func(b *testing.B) {
			for b.Loop() {
				j.RowsOf(values, rows)
			}
		})
	}
}
