package column

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"slices"
)

// Key is the key of a code. A code above all Ranks, which no intact table has, counts as the last one.
func (c *Column) Key(code uint64) uint64 {
	if n := len(c.Ranks); n > 0 {
		return c.Ranks[min(code, uint64(n-1))]
	}
	return c.Base + max(c.Unit, 1)*code
}

// Code is the least code whose key is not below a key, which must lie between the keys of two codes
// of rows. exact tells that the keys are equal.
func (c *Column) Code(key uint64) (code uint64, exact bool) {
	if c.Ranks != nil {
		i, exact := slices.BinarySearch(c.Ranks, key)
		return uint64(i), exact
	}
	unit := max(c.Unit, 1)
	code, rest := (key-c.Base)/unit, (key-c.Base)%unit
	if rest > 0 {
		code++
	}
	return code, rest == 0
}

// IntKey is the key of an Int, Timestamp, TimestampNS or Decimal.
func IntKey(v int64) uint64 { return uint64(v) ^ 1<<63 }

// KeyInt is the value of a key that IntKey has made.
func KeyInt(k uint64) int64 { return int64(k ^ 1<<63) }

// FloatKey is the key of a Float. All NaNs have one key.
func FloatKey(v float64) uint64 {
	if v != v {
		v = math.Float64frombits(0x7ff8 << 48)
	}
	b := math.Float64bits(v + 0) // -0 + 0 is 0
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

// KeyFloat is the value of a key that FloatKey has made.
func KeyFloat(k uint64) float64 {
	if k>>63 != 0 {
		return math.Float64frombits(k &^ (1 << 63))
	}
	return math.Float64frombits(^k)
}

// Float32Key is the key of a Float32, which has 32 bits. All NaNs have one key.
func Float32Key(v float32) uint64 {
	if v != v {
		v = math.Float32frombits(0x7fc0 << 16)
	}
	b := math.Float32bits(v + 0) // -0 + 0 is 0
	if b>>31 != 0 {
		return uint64(^b)
	}
	return uint64(b | 1<<31)
}

// KeyFloat32 is the value of a key that Float32Key has made.
func KeyFloat32(k uint64) float32 {
	b := uint32(k)
	if b>>31 != 0 {
		return math.Float32frombits(b &^ (1 << 31))
	}
	return math.Float32frombits(^b)
}

// WideSize is the size of an entry of the dictionary of a Decimal128, in bytes.
const WideSize = 16

// ErrWide is the error for an integer that needs more than 128 bits.
var ErrWide = errors.New("more than 128 bits")

// WideKey gives the dictionary entry of an integer of 128 bits: its two's complement,
// highest byte first, with the highest bit inverted. The order of entries is the order
// of integers.
func WideKey(v *big.Int) (key [WideSize]byte, err error) {
	offset := new(big.Int).Lsh(big.NewInt(1), 8*WideSize-1)
	offset.Add(offset, v)
	if offset.Sign() < 0 || offset.BitLen() > 8*WideSize {
		return key, ErrWide
	}
	offset.FillBytes(key[:])
	return key, nil
}

// AppendWideKey appends WideKey of two words in two's complement.
func AppendWideKey(to []byte, high, low uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(to, high^1<<63), low)
}

// KeyWide is the integer of a dictionary entry.
func KeyWide(key string) *big.Int {
	v := new(big.Int).SetBytes([]byte(key))
	return v.Sub(v, new(big.Int).Lsh(big.NewInt(1), 8*WideSize-1))
}

// Infinity is the Timestamp or TimestampNS after all times, in its unit, and -Infinity is
// the value before all times. DuckDB stores the same numbers.
const Infinity = math.MaxInt64

// DayKey is the key of the Timestamp at the start of a day, counted from 1970-01-01. The
// days ±(2^31-1) mean ±Infinity. ok is false for a day outside of the range of Timestamp.
func DayKey(day int32) (key uint64, ok bool) {
	const micros = int64(86400e6)
	const last = int32(math.MaxInt64 / micros)
	switch {
	case day == math.MaxInt32:
		return IntKey(Infinity), true
	case day == -math.MaxInt32:
		return IntKey(-Infinity), true
	}
	return IntKey(int64(day) * micros), -last <= day && day <= last
}
