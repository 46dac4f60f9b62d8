//go:build !(goexperiment.simd && amd64)

package codec

// Without GOEXPERIMENT=simd the generated loops read all values. The loops of
// unpack_simd.go read none.

func wideValues(dst, src []uint32, b uint) int { return 0 }

func wideSums(dst, src []uint32, b uint, docID uint64) (int, uint64) { return 0, docID }
