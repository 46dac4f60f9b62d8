package exact

import (
	"math/big"
	"math/bits"
)

// Integer is the exact sum of at most 2^63 integers of 128 bits, in two's complement of 192 bits. The
// zero value is 0.
type Integer struct{ Low, Middle, High uint64 }

// Add adds the unsigned integer high·2^64 + low.
func (s *Integer) Add(high, low uint64) {
	var carry uint64
	s.Low, carry = bits.Add64(s.Low, low, 0)
	s.Middle, carry = bits.Add64(s.Middle, high, carry)
	s.High += carry
}

// Merge adds the sum o.
func (s *Integer) Merge(o Integer) {
	s.Add(o.Middle, o.Low)
	s.High += o.High
}

// AddTimes adds n times a signed integer of 128 bits in two's complement.
func (s *Integer) AddTimes(n, high, low uint64) {
	s.Add(bits.Mul64(low, n))
	upper, lower := bits.Mul64(high, n)
	var carry uint64
	s.Middle, carry = bits.Add64(s.Middle, lower, 0)
	s.High += upper + carry - n*(high>>63) // a negative integer is 2^128 less than high and low say
}

// Times is n times the sum of integers of 64 bits; 0 stands for 1.
func (s Integer) Times(n uint64) Integer {
	if n <= 1 {
		return s
	}
	var product Integer
	product.AddTimes(n, s.Middle, s.Low)
	return product
}

// Wide is the sum in two's complement of 128 bits. ok is false if the sum needs more.
func (s *Integer) Wide() (high, low uint64, ok bool) {
	return s.Middle, s.Low, s.High == uint64(int64(s.Middle)>>63)
}

// Big is the sum.
func (s *Integer) Big() *big.Int {
	sum := big.NewInt(int64(s.High))
	for _, word := range []uint64{s.Middle, s.Low} {
		sum.Lsh(sum, 64)
		sum.Add(sum, new(big.Int).SetUint64(word))
	}
	return sum
}

// AddProduct adds a·b.
func (s *Integer) AddProduct(a, b uint64) { s.Add(bits.Mul64(a, b)) }
