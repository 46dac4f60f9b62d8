//go:build !(goexperiment.simd && amd64)

package lookup

// Without GOEXPERIMENT=simd the loops for single words do everything. The loops of wide_simd.go do
// nothing.

const hasWide = false

func wideExpand(dst []uint32, words []uint64, base uint32) int { return 0 }

func wideRun(dst []uint32, first uint32) int { return 0 }

func wideAnd(dst []uint64, a, b []uint32) (words, n int) { return 0, 0 }

func wideOr(dst []uint64, a, b []uint32) (words int, full bool) { return 0, true }

func wideCount(set []uint64) (words, n int) { return 0, 0 }
