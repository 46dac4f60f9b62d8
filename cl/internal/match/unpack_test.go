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
		some := []codec.ID{codec.ParaPFor, codec.Rice, codec.LRCPFor, codec.SegLRC, codec.HSLRC128}
		for _, id := range some {
			add(500, id)
			add(1500, id)
		}
		add(1, codec.Raw)
		add(3000, codec.Raw)
		add(20_000, codec.Bitset)
		add(20_000, codec.Bitset)
		add(100_000, codec.Bitset)
		ctx := t.Context()
		s, err := loadFor(ctx, b, &src.Source)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		unpacked := map[bool]int{}
		up, firstTile := make([]uint32, uploadWords(s.maxTiles)), make([]uint32, maxQueries+1)
		check := func(t rapid.TB, countOnly bool, queries ...[]uint32) {
			batch := plan.MatchBatch{CountOnly: countOnly}
			for _, q := range queries {
				batch.Add(&src.Source, q...)
			}
			tables, err := s.set.TablesOf(ctx, s.set.Auto)
			if err != nil {
				t.Fatal(err)
			}
			r, _ := s.cut(&batch, tables.Records, position{}, up, firstTile)
			unpacked[r.unpacked]++
			var got plan.Results
			if err := s.Match(ctx, &batch, &got); err != nil {
				t.Fatal(err)
			}
			for i := range batch.Queries() {
				want := reference.Conjunction(postings, batch.Query(i)...)
				if got.Count(i) != uint64(len(want)) || !batch.CountOnly && !slices.Equal(got.Query(i), want) {
					t.Fatalf("lists %v: %d matches, want %d", batch.Query(i), got.Count(i), len(want))
				}
			}
		}
		rapid.Check(t, func(t *rapid.T) {
			s.set.Auto = rapid.SampledFrom([]plan.Algorithm{plan.Bits, plan.HS16, plan.BS}).Draw(t, "auto")
			query := rapid.SliceOfN(rapid.Uint32Range(0, uint32(len(postings)-1)), 1, 4)
			check(t, rapid.Bool().Draw(t, "count only"), rapid.SliceOfN(query, 1, 12).Draw(t, "queries")...)
		})
		check(t, false, []uint32{8, 1})                           // one posting does not pay for 1500 decoded ones
		check(t, false, []uint32{9}, []uint32{9}, []uint32{1, 3}) // 7500 elements do
		if unpacked[true] == 0 || unpacked[false] == 0 {
			t.Errorf("rounds with unpacked lists: %v", unpacked)
		}
	})
}
