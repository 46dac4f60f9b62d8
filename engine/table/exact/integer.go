package exact

import (
	"math/big"
	"math/bits"
)

// Integer is the exact sum of at most 2^64 unsigned integers of 128 bits. The zero value is 0.
type Integer [3]uint64 // lowest word first

// Add adds the integer high·2^64 + low.
func (s *Integer) Add(high, low uint64) {
	var carry uint64
	s[0], carry = bits.Add64(s[0], low, 0)
	s[1], carry = bits.Add64(s[1], high, carry)
	s[2] += carry
}

// Merge adds the sum o.
func (s *Integer) Merge(o Integer) {
	s.Add(o[1], o[0])
	s[2] += o[2]
}

// Big is the sum.
func (s *Integer) Big() *big.Int {
	sum := new(big.Int)
	for i := range s {
		sum.Lsh(sum, 64)
		sum.Or(sum, new(big.Int).SetUint64(s[len(s)-1-i]))
	}
	return sum
}

// AddProduct adds a·b.
func (s *Integer) AddProduct(a, b uint64) { s.Add(bits.Mul64(a, b)) }
