package codeset

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec/bitslice"
	"heddle/engine/plan"
)

// drawRanges draws ranges that ascend: single codes, single gaps, or long ones, near and far
// apart, at the ends of the codes too.
func drawRanges(t *rapid.T) []plan.CodeRange {
	step := rapid.SampledFrom([]uint64{2, 3, 50, 1 << 20, 1 << 40, 1 << 62}).Draw(t, "step")
	length := rapid.SampledFrom([]uint64{1, 1, 2, 100, 1 << 30}).Draw(t, "length")
	next := rapid.OneOf(rapid.Uint64Range(0, 100), rapid.Uint64Range(math.MaxUint32-100, math.MaxUint32+100), rapid.Uint64(),
		rapid.Just(uint64(math.MaxUint64-20))).Draw(t, "first")
	var ranges []plan.CodeRange
	for range rapid.IntRange(0, 300).Draw(t, "number") {
		hi := next + rapid.Uint64Range(0, length-1).Draw(t, "more")
		if hi < next {
			break
		}
		ranges = append(ranges, plan.CodeRange{Lo: next, Hi: hi})
		if next = hi + rapid.Uint64Range(2, step).Draw(t, "gap"); next < hi {
			break
		}
	}
	return ranges
}

// TestSet compares every form of a set with a scan of the ranges.
func TestSet(t *testing.T) {
	var s Set // one for all, so that the memory of one set serves the next
	rapid.Check(t, func(t *rapid.T) {
		ranges := drawRanges(t)
		rows := rapid.SampledFrom([]uint64{0, 1, 1000, 1 << 22}).Draw(t, "rows")
		s.Fill(ranges, rows)
		codes := []uint64{0, 1, math.MaxUint32, math.MaxUint32 + 1, math.MaxUint64, rapid.Uint64().Draw(t, "any")}
		for _, r := range ranges {
			codes = append(codes, r.Lo-1, r.Lo, r.Lo/2+r.Hi/2, r.Hi, r.Hi+1, r.Lo^1<<32)
		}
		for part := range slices.Chunk(codes, 64) {
			mask := rapid.OneOf(rapid.Just(uint64(math.MaxUint64)), rapid.Uint64()).Draw(t, "rows of the word") >> (64 - len(part))
			var want uint64
			var codes [64]uint64
			for i, code := range part {
				codes[i] = code
				in := func(code uint64) bool {
					return slices.ContainsFunc(ranges, func(r plan.CodeRange) bool { return r.Lo <= code && code <= r.Hi })
				}
				if in(code) {
					want |= 1 << i
				}
				if s.Has(code) != in(code) || bitslice.Contains(ranges, code) != in(code) {
					t.Fatalf("code %d of %v, form %d: %t, want %t", code, ranges, s.form, s.Has(code), in(code))
				}
			}
			if got := s.Keep(mask, &codes); got != want&mask {
				t.Fatalf("form %d keeps %x of %x, want %x", s.form, got, mask, want&mask)
			}
		}
	})
}

// TestForms has ranges of every form.
func TestForms(t *testing.T) {
	every := func(step, length uint64) (ranges []plan.CodeRange) {
		for i := range uint64(300) {
			ranges = append(ranges, plan.CodeRange{Lo: i * step, Hi: i*step + length - 1})
		}
		return ranges
	}
	for _, c := range []struct {
		name   string
		ranges []plan.CodeRange
		want   form
	}{
		{"few codes", every(3, 1), mapped},
		{"single codes far apart", every(1<<40, 1), filtered},
		{"single gaps far apart", every(1<<40, 1<<40-1), omitted},
		{"long ranges, enough rows for a bitmap", every(1<<15, 100), mapped},
		{"long ranges far apart", every(1<<40, 100), searched},
	} {
		var s Set
		if s.Fill(c.ranges, 1<<22); s.form != c.want {
			t.Errorf("%s: form %d, want %d", c.name, s.form, c.want)
		}
	}
}

// TestEnds: a bitmap that ends beside 2^64 is no set of codes that wrap there.
func TestEnds(t *testing.T) {
	for last := uint64(math.MaxUint64 - 3); last > 0; last++ {
		var s Set
		var ranges []plan.CodeRange
		for lo := last - 60; lo <= last && lo > 100; lo += 4 {
			ranges = append(ranges, plan.CodeRange{Lo: lo, Hi: lo})
		}
		s.Fill(ranges, 1000)
		codes := [64]uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, math.MaxUint64 - 2, math.MaxUint64 - 1, math.MaxUint64}
		got := s.Keep(math.MaxUint64, &codes)
		for i, c := range codes {
			if in := bitslice.Contains(ranges, c); got>>i&1 == 1 != in {
				t.Errorf("codes up to %d: %d is in the set: %v", last, c, !in)
			}
		}
	}
}
