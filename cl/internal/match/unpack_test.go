package match

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/codec"
	"heddle/codec/codectest"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/reference"
	"heddle/engine/plan/testneeds"
)

// TestUnpacked compares rounds that decode the lists that they search, and rounds that do not, with
// the plain evaluator, under each algorithm that auto stands for.
func TestUnpacked(t *testing.T) {
	testneeds.OneCaller(t)
	devicetest.ForShapes(t, devicetest.Find(t, ops), func(t *testing.T, b *device.Runtime) {
		const docs = 1 << 18
		src := plantest.NewSource(docs)
		var postings [][]uint32
		add := func(n int, id codec.ID) {
			postings = append(postings, codectest.Generators()[4].List(uint64(len(postings)), n, docs))
			src.Add(t, id, postings[len(postings)-1])
		}
		some := []codec.ID{codec.ParaPFor, codec.Rice, codec.SegLRC, codec.HSLRC128}
		for _, id := range some {
			add(500, id)
			add(1500, id)
		}
		add(1, codec.Raw)
		add(3000, codec.Raw)
		add(20_000, codec.Bitset)
		add(20_000, codec.Bitset)
		add(100_000, codec.Bitset)
		s, err := loadFor(t.Context(), b, &src.Source)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		unpacked := map[bool]int{}
		up, firstTile := make([]uint32, uploadWords(s.maxTiles)), make([]uint32, maxQueries+1)
		rapid.Check(t, func(t *rapid.T) {
			s.set.Auto = rapid.SampledFrom([]plan.Algorithm{plan.Bits, plan.HS16, plan.BS}).Draw(t, "auto")
			batch := plan.MatchBatch{CountOnly: rapid.Bool().Draw(t, "count only")}
			list := rapid.Uint32Range(0, uint32(len(postings)-1))
			for range rapid.IntRange(1, 12).Draw(t, "queries") {
				batch.Add(&src.Source, rapid.SliceOfN(list, 1, 4).Draw(t, "query")...)
			}
			tables, err := s.set.TablesOf(t.Context(), s.set.Auto)
			if err != nil {
				t.Fatal(err)
			}
			r, _ := s.cut(&batch, tables.Records, position{}, up, firstTile)
			unpacked[r.unpacked]++
			var got plan.Results
			if err := s.Match(t.Context(), &batch, &got); err != nil {
				t.Fatal(err)
			}
			for i := range batch.Queries() {
				want := reference.Conjunction(postings, batch.Query(i)...)
				if got.Count(i) != uint64(len(want)) || !batch.CountOnly && !slices.Equal(got.Query(i), want) {
					t.Fatalf("lists %v: %d matches, want %d", batch.Query(i), got.Count(i), len(want))
				}
			}
		})
		if unpacked[true] == 0 || unpacked[false] == 0 {
			t.Errorf("rounds with unpacked lists: %v", unpacked)
		}
	})
}
