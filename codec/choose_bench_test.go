package codec

import (
	"fmt"
	"testing"
)

// BenchmarkSpeeds measures the times of the descriptors on a uniform list of one docID
// in 60. decode is the time of a docID of the list. probe is the time of a docID of
// another, ascending list of a 64th of the length, half of whose docIDs are in the
// list. Each block is decoded once; line codecs look docIDs up one by one.
func BenchmarkSpeeds(b *testing.B) {
	const n, gap, sparsity = 1 << 17, 60, 64
	docs := uniformList(n, n*gap)
	var candidates []uint32
	for i := 0; i < n; i += sparsity {
		candidates = append(candidates, docs[i]+uint32(i/sparsity%2))
	}
	for _, id := range ids {
		l := encode(b, id, docs, DefaultOptions())
		b.Run(fmt.Sprintf("decode/%v", id), func(b *testing.B) {
			dst := make([]uint32, 0, n)
			for b.Loop() {
				if _, err := l.AppendTo(dst); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/docID")
		})
		b.Run(fmt.Sprintf("probe/%v", id), func(b *testing.B) {
			for b.Loop() {
				if found := probeAll(b, l, candidates); found < len(candidates)/2 {
					b.Fatalf("%d of %d docIDs found", found, len(candidates))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(candidates)), "ns/probe")
		})
	}
}

// probeAll returns the number of candidates that are in the list.
func probeAll(tb testing.TB, l List, candidates []uint32) (found int) {
	switch {
	case l.Codec == Bitset:
		b, err := l.Bits()
		if err != nil {
			tb.Fatal(err)
		}
		for _, x := range candidates {
			if b.Has(x) {
				found++
			}
		}
		return found
	case l.Codec == Raw:
		for _, x := range candidates {
			lo, hi := 0, len(l.Words)
			for lo < hi {
				if mid := int(uint(lo+hi) / 2); l.Words[mid] < x {
					lo = mid + 1
				} else {
					hi = mid
				}
			}
			if lo < len(l.Words) && l.Words[lo] == x {
				found++
			}
		}
		return found
	case l.Codec.Layout() == LineLayout:
		v, err := l.Lines()
		if err != nil {
			tb.Fatal(err)
		}
		for _, x := range candidates {
			if _, ok := v.Find(x); ok {
				found++
			}
		}
		return found
	}
	var b Blocks
	if err := b.Open(l); err != nil {
		tb.Fatal(err)
	}
	var buf [SegmentLen]uint32
	block, at := buf[:0], -1
	for _, x := range candidates {
		k := b.Find(x)
		if k == b.Count() {
			continue
		}
		if k != at {
			var err error
			if block, err = b.Decode(buf[:0], k); err != nil {
				tb.Fatal(err)
			}
			at = k
		}
		lo, hi := 0, len(block)
		for lo < hi {
			if mid := int(uint(lo+hi) / 2); block[mid] < x {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		if lo < len(block) && block[lo] == x {
			found++
		}
	}
	return found
}
