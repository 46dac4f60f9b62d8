package bitmap

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"heddle/cl/internal/device"
	"heddle/codec/wah"
	"heddle/engine/plan"
	"heddle/engine/plan/reference"
)

// testKey is a self-test of a strategy on words of 32 or 64 bits.
type testKey struct {
	word     int
	strategy plan.Strategy
}

// selfTestOnce tests the kernels of a strategy on first use.
func selfTestOnce(ctx context.Context, rt *device.Runtime, word int, strategy plan.Strategy) error {
	return device.TestOnce(ctx, rt, []testKey{{word, strategy}}, func(untested []testKey) error { return selfTest(ctx, rt, untested[0]) })
}

// selfTest selects rows of a table whose vectors have all classes of tiles, with all
// steps, and compares with an evaluation row by row.
func selfTest(ctx context.Context, rt *device.Runtime, of testKey) error {
	word, failed := of.word, rt.FailedTest
	// Three tiles and a part of one.
	rows := uint32((3*tileGroups(rt.Tuning)+70)*(word-1) + 9)
	t, plain, err := sampleTable(rows, word)
	if err != nil {
		return failed("preparing: %w", err)
	}
	s, err := load(ctx, rt, t)
	if err != nil {
		return err
	}
	defer s.Close()
	sel := sampleSelections(len(plain.Bits))
	sel.Strategy = of.strategy
	wants := plain.Select(sel)
	for _, sel.Output = range []plan.Output{plan.OutputBits, plan.OutputCounts} {
		sel.Rescan = !sel.Rescan // matters if vectors are decompressed
		var got plan.Rows
		if err := s.run(ctx, sel, &got); err != nil {
			return err
		}
		for i, want := range wants {
			n := 0
			for _, w := range want {
				n += bits.OnesCount64(w)
			}
			if int(got.Counts[i]) != n {
				return failed("selection %d: %d rows, expected %d", i, got.Counts[i], n)
			}
			if sel.Output != plan.OutputBits {
				continue
			}
			for k, w := range got.Selection(i) {
				if w != want[k] {
					return failed("selection %d: rows %d to %d are %x, expected %x", i, 64*k, 64*k+63, w, want[k])
				}
			}
		}
	}
	return nil
}

// facetKey is the key of the self-test of count_codes.
type facetKey struct{}

// selfTestFacets counts codes on first use: few of them in local memory, many, and bins of wide ones.
func selfTestFacets(ctx context.Context, rt *device.Runtime) error {
	return device.TestOnce(ctx, rt, []facetKey{{}}, func([]facetKey) error {
		const rows = 70_000 // enough for two work-groups
		t, plain, err := sampleTable(rows, 32)
		columns, failed := sampleColumns(t, plain, 6, rows-1)
		err = cmp.Or(err, failed)
		columns = append(columns, plan.Input{Column: 0, Last: 3 << 32, Bounds: []uint64{5 << 20, 1 << 32, 2<<32 + 7<<20}})
		if err != nil {
			return rt.FailedTest("preparing: %w", err)
		}
		s, err := load(ctx, rt, t)
		if err != nil {
			return err
		}
		defer s.Close()
		set := plain.Bits[5] // half of the rows
		got, err := s.countCodes(ctx, set, columns)
		if err != nil {
			return err
		}
		for i, in := range columns {
			want := make([]uint64, in.Top()+2)
			for r, code := range plain.Codes[in.Column] {
				place := code + 1
				if in.Bounds != nil {
					place = in.Bin(code) + 1
				}
				if has := plain.Has[in.Column]; has != nil && has[r/64]>>(r%64)&1 == 0 {
					place = 0
				}
				want[place] += set[r/64] >> (r % 64) & 1
			}
			if !slices.Equal(got[i], want) {
				return rt.FailedTest("numbers of rows by their codes are wrong, of codes up to %d", in.Last)
			}
		}
		return nil
	})
}

// sampleColumns adds a column for each last code, with the codes of the first column modulo the codes up to it.
func sampleColumns(t *plan.Table, plain *reference.Table, lasts ...uint64) (columns []plan.Input, err error) {
	for _, last := range lasts {
		codes := make([]uint64, len(plain.Codes[0]))
		for r := range codes {
			codes[r] = plain.Codes[0][r] % (last + 1)
		}
		plain.Codes, plain.Has = append(plain.Codes, codes), append(plain.Has, nil)
		column, failed := t.AppendTiles(codes, nil)
		err = cmp.Or(err, failed)
		columns = append(columns, plan.Input{Column: column, Last: last})
	}
	return columns, err
}

// sampleTable makes a table with vectors of zeros, of ones, of random bits from few to half
// of the rows, and of runs, with a column of wide codes, a few of them large, and with one of few codes. Some rows lack both.
func sampleTable(rows uint32, word int) (*plan.Table, *reference.Table, error) {
	t, plain := &plan.Table{Rows: rows}, &reference.Table{Rows: rows}
	hash := func(r, seed uint32) uint32 { h := (r + seed*977) * 2654435761; return (h ^ h>>15) * 2246822519 >> 8 }
	for _, in := range []func(r uint32) bool{
		func(r uint32) bool { return false },
		func(r uint32) bool { return true },
		func(r uint32) bool { return hash(r, 1)%3000 == 0 },
		func(r uint32) bool { return hash(r, 2)%200 == 0 },
		func(r uint32) bool { return hash(r, 3)%40 == 0 },
		func(r uint32) bool { return hash(r, 4)%2 == 0 },
		func(r uint32) bool { return r/1500%3 == 1 },
		func(r uint32) bool { return r > rows/2 || r%5000 < 40 },
	} {
		set := make([]uint64, wah.Bitset(uint64(rows)))
		for r := range rows {
			if in(r) {
				set[r/64] |= 1 << (r % 64)
			}
		}
		plain.Bits = append(plain.Bits, set)
		if word == 64 {
			t.AppendVector64(wah.Compress([]uint64(nil), set, uint64(rows)))
		} else {
			t.AppendVector32(wah.Compress([]uint32(nil), set, uint64(rows)))
		}
	}
	codes, has := make([]uint64, rows), make([]uint64, wah.Bitset(uint64(rows)))
	for r := range rows {
		low := hash(r, 10)
		if hash(r, 11)%400 > 0 { // few others, so that slices of the upper bits are sparse
			low >>= 12
		}
		codes[r] = uint64(hash(r, 9)%3)<<32 | uint64(low)
		if hash(r, 12)%50 > 0 || r < 4096 {
			has[r/64] |= 1 << (r % 64)
		}
	}
	few := make([]uint64, rows) // codes of 8 bits, and of 3 from some row on
	for r := range rows {
		few[r] = uint64(10 + hash(r, 13)%(200>>(r/8192%2*5)))
	}
	plain.Codes, plain.Has = [][]uint64{codes, few}, [][]uint64{has, has}
	_, err := t.AppendTiles(codes, has)
	_, failed := t.AppendTiles(few, has)
	return t, plain, cmp.Or(err, failed)
}

// sampleSelections makes selections with every step: the ORs of each vector with some more,
// then the rest.
func sampleSelections(vectors int) *plan.SelectBatch {
	s := new(plan.SelectBatch)
	for v := range uint32(vectors) {
		s.Any(v)
		s.End()
		s.Any(v, (v+3)%uint32(vectors), (v+4)%uint32(vectors))
		s.Any(v, (v+5)%uint32(vectors))
		s.Do(plan.StepAnd)
		s.End()
	}
	s.Any(4) // few rows
	s.Check(0, plan.CodeRange{Lo: 1 << 10, Hi: 1<<32 + 1<<9})
	s.End()
	s.Any()
	s.Do(plan.StepNot)
	s.Check(0, plan.CodeRange{Lo: 1 << 20, Hi: 1<<32 + 1<<22}, plan.CodeRange{Lo: 2<<32 + 5, Hi: 2<<32 + 1<<23})
	s.Any(2, 4, 6)
	s.Do(plan.StepAndNot)
	s.Any(3)
	s.Any(5, 2)
	s.Do(plan.StepAnd)
	s.Do(plan.StepOr)
	s.End()
	one, many := plan.CodeRange{Lo: 1 << 10, Hi: 1<<32 + 1<<9}, []plan.CodeRange{{Lo: 3, Hi: 3}}
	for k := range uint64(9) {
		many = append(many, plan.CodeRange{Lo: k<<30 + 1<<8, Hi: k<<30 + 1<<(9+k)})
	}
	s.Do(plan.StepAll)
	s.Check(0, one)
	s.End()
	s.Do(plan.StepAll)
	s.Check(0, many...)
	s.Do(plan.StepAll)
	s.Check(0, one, plan.CodeRange{Lo: 2<<32 + 1<<20, Hi: 3 << 32})
	s.Do(plan.StepNot)
	s.Do(plan.StepAnd)
	s.End()
	s.Do(plan.StepAll)
	s.Check(0, spaced(1<<32, 3000, 40)...)
	s.Do(plan.StepAll)
	s.Check(1, spaced(3, 11, 9)...)
	s.Do(plan.StepOr)
	s.End()
	for _, c := range []plan.Comparison{
		{Columns: [2]uint32{0, 1}, Base: [2]uint64{0, 1<<32 + 1<<11}, Less: true},
		{Columns: [2]uint32{1, 1}, Base: [2]uint64{3, 0}, Equal: true, Greater: true},
		{Columns: [2]uint32{0, 0}, Base: [2]uint64{7, 7}, Equal: true},
	} {
		s.Do(plan.StepAll)
		s.Compare(c)
		s.Any(5)
		s.Do(plan.StepAnd)
		s.Do(plan.StepAll)
		s.Compare(c)
		s.Do(plan.StepNot)
		s.Do(plan.StepOr)
		s.End()
		s.Do(plan.StepAll)
		s.Compare(c)
		s.End()
	}
	s.End() // no step: no row
	return s
}

// spaced makes n ranges of neighbouring codes, the first one from a code on, each so many codes behind the last one.
func spaced(from, apart, n uint64) (ranges []plan.CodeRange) {
	for k := range n {
		ranges = append(ranges, plan.CodeRange{Lo: from + k*apart, Hi: from + k*apart + apart/3})
	}
	return ranges
}
