package rank

import (
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/testneeds"
)

// fewGroups makes groups take several ranges until the end of the test.
func fewGroups(t *testing.T) {
	normal := leastGroups
	leastGroups = func(device.Tuning) int { return 1 }
	t.Cleanup(func() { leastGroups = normal })
}

// TestSpans ranks by groups of several ranges. Range r has 21 + 2r documents of high scores, and range 0 has 150 of
// them: there are fewer than a group notes, one more in range 54, and many more. They lie at the same places of their
// ranges, and have the highest scores in ranges 5 and 54. Queries have one list, few, and more than a group looks up together.
func TestSpans(t *testing.T) {
	testneeds.OneCaller(t)
	const rangeDocs, ranges = 1024, 64
	fewGroups(t)
	d := devicetest.Find(t, ops)
	r := rand.New(rand.NewPCG(7, 8))
	s := plantest.NewRanked(r, rangeDocs*ranges-5, 0, plantest.LengthKinds[0].One)
	for i := range 70 {
		var docs, freqs []uint32
		for x := uint32(i) * 97; x < s.Docs; x += 1 + uint32(i)*13 {
			freq, at := uint32(1), int(x/rangeDocs)
			if many := 21 + 2*at; int(x%rangeDocs) < many || at == 0 && x < 150 {
				freq = uint32(1000 - 8*min(max(at-5, 5-at), max(at-54, 54-at)))
			}
			docs, freqs = append(docs, x), append(freqs, freq)
		}
		s.AddRanked(t, []codec.ID{codec.ParaPFor, codec.Raw, codec.VByte}[i%3], docs, freqs)
	}
	all := make([]plan.Handle, 70)
	for i := range all {
		all[i] = plan.Handle(i)
	}
	b := plan.RankBatch{Norm: s.Norm(0.9, 0), Accumulators: plan.RangeAccumulators}
	for _, q := range [][]plan.Handle{{0}, {1, 2, 3}, all[:64], all} {
		b.Add(&s.Source, plantest.Weighted(r, q...)...)
	}
	want := s.Plain.Rank(&b)
	for shape, row := range devicetest.Shapes(d) {
		row.RankRange = rangeDocs
		rk, err := load(devicetest.OpenRow(t, d, row, false), &s.Source)
		if err != nil {
			t.Fatal(err)
		}
		for _, b.K = range []int{1, 20, 150, 300} {
			var out plan.TopK
			if err := rk.run(t.Context(), &b, &out); err != nil {
				t.Fatal(err)
			}
			for i := range b.Queries() {
				if !slices.Equal(KeysOf(&out, i), KeysOfHits(want[i], b.K)) {
					t.Errorf("%s, k = %d, query of %d terms: other documents or scores", shape, b.K, len(b.Query(i)))
				}
			}
		}
		if err := rk.close(); err != nil {
			t.Error(err)
		}
	}
}

// TestNotes ranks lists that have the same number of documents in each range, all of one score: as many as a group notes, one
// more, two more. The best are all documents of the first ranges.
func TestNotes(t *testing.T) {
	testneeds.OneCaller(t)
	const rangeDocs, ranges, notes = 1024, 64, 128 // RANK_NOTES of the kernel
	fewGroups(t)
	d := devicetest.Find(t, ops)
	r := rand.New(rand.NewPCG(9, 9))
	s := plantest.NewRanked(r, rangeDocs*ranges, 0, plantest.LengthKinds[0].One)
	b := plan.RankBatch{Norm: s.Norm(0.9, 0), Accumulators: plan.RangeAccumulators}
	for i := range 3 {
		var docs []uint32
		for x := range uint32(ranges * (notes + uint32(i))) {
			docs = append(docs, x/(notes+uint32(i))*rangeDocs+x%(notes+uint32(i))*7)
		}
		s.AddRanked(t, codec.Raw, docs, slices.Repeat([]uint32{1}, len(docs)))
		b.Add(&s.Source, plan.Term{List: plan.Handle(i), Weight: 1 << 30})
	}
	want := s.Plain.Rank(&b)
	for shape, row := range devicetest.Shapes(d) {
		row.RankRange = rangeDocs
		rk, err := load(devicetest.OpenRow(t, d, row, false), &s.Source)
		if err != nil {
			t.Fatal(err)
		}
		for _, b.K = range []int{50, 300, 500} {
			var out plan.TopK
			if err := rk.run(t.Context(), &b, &out); err != nil {
				t.Fatal(err)
			}
			for i := range b.Queries() {
				if !slices.Equal(KeysOf(&out, i), KeysOfHits(want[i], b.K)) {
					t.Errorf("%s, k = %d, %d documents in a range: other documents or scores", shape, b.K, notes+i)
				}
			}
		}
		if err := rk.close(); err != nil {
			t.Error(err)
		}
	}
}
