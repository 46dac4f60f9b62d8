package match

import (
	"fmt"
	"math/rand/v2"
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

// gapCodecs are the codecs whose lists are searched by segments.
var gapCodecs = []codec.ID{codec.ParaPFor, codec.VByte, codec.Rice, codec.PFD, codec.NewPFD, codec.RPFD}

// skipLists are lists that hit few, many and all segments of each other.
func skipLists(r *rand.Rand) [][]uint32 {
	var postings [][]uint32
	for _, n := range []int{1, 40, 129, 700, 3000, 3000} {
		postings = append(postings, codectest.Generators()[4].List(r.Uint64(), n, 1<<14)) // uniform
	}
	for _, g := range codectest.Generators() {
		if docs := g.List(r.Uint64(), 500, 1<<14); len(docs) > 0 {
			postings = append(postings, docs)
		}
	}
	return postings
}

// TestSkip looks lists up in lists of every gap codec, alone and among lists of
// the others, under every table, and compares with Go.
func TestSkip(t *testing.T) {
	testneeds.OneCaller(t)
	devicetest.ForShapes(t, devicetest.Find(t, ops), func(t *testing.T, b *device.Runtime) {
		mixes := [][]codec.ID{gapCodecs, {codec.ParaPFor, codec.Raw, codec.Bitset, codec.LRCPFor, codec.SegLRC, codec.HSLRC128}}
		for _, id := range gapCodecs {
			if devicetest.Small() && b.Tuning.Serial && id != codec.ParaPFor {
				continue // a program for each codec: the local shape has them
			}
			mixes = append(mixes, []codec.ID{id})
		}
		for _, mix := range mixes {
			t.Run(fmt.Sprint(mix), func(t *testing.T) {
				r := rand.New(rand.NewPCG(9, uint64(mix[0])))
				src := &plan.Source{Docs: 1 << 14}
				postings := skipLists(r)
				for i, docs := range postings {
					opt := codec.Options{ExceptionRatio: 0.2, RPFDLevels: i % 3}
					if _, err := src.Append(mix[i%len(mix)], docs, opt); err != nil {
						t.Fatal(err)
					}
				}
				checkQueries(t, b, src, postings, r)
			})
		}
	})
}

// checkQueries asks random queries under algorithms whose tables differ.
func checkQueries(t *testing.T, b *device.Runtime, src *plan.Source, postings [][]uint32, r *rand.Rand) {
	s, err := loadFor(t.Context(), b, src)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	queries := 200
	if devicetest.Small() {
		queries = 40
	}
	for i, a := range []plan.Algorithm{plan.BS, plan.HS16, plan.HS256, plan.LR, plan.Bits, plan.PMF2} {
		for _, countOnly := range []bool{false, true} {
			if devicetest.Small() && countOnly != (i%2 == 0) {
				continue
			}
			var batch plan.MatchBatch
			batch.Algorithm, batch.CountOnly = a, countOnly
			for range queries {
				q := make([]plan.Handle, 1+r.IntN(4))
				for i := range q {
					q[i] = r.Uint32N(uint32(len(postings)))
				}
				batch.Add(src, q...)
			}
			var got plan.Results
			if err := s.Match(devicetest.Limited(t), &batch, &got); err != nil {
				t.Fatal(err)
			}
			for i := range batch.Queries() {
				want := reference.Conjunction(postings, batch.Query(i)...)
				if got.Count(i) != uint64(len(want)) || !countOnly && !slices.Equal(got.Query(i), want) {
					t.Fatalf("%s, count only %t: lists %v: %d matches, want %d", a, countOnly, batch.Query(i), got.Count(i), len(want))
				}
			}
		}
	}
}

// TestDecodedBlocks compares the segments that kernels decode with the blocks that a
// document-at-a-time evaluation of each tile enters (Ding et al. 2009, section 8.1). A query of
// one tile decodes the same blocks as on the host.
func TestDecodedBlocks(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, ops)
	for name, shape := range devicetest.Shapes(d) {
		t.Run(name, func(t *testing.T) {
			b, err := device.Open(t.Context(), d, device.Options{Tuning: &shape, SkipSelfTest: true, CountLoads: true})
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			rapid.Check(t, func(rt *rapid.T) {
				const docs = 1 << 14
				src := plantest.NewSource(docs)
				r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 9))
				var handles []plan.Handle
				for _, n := range rapid.SliceOfN(rapid.IntRange(0, 3000), 1, 4).Draw(rt, "lengths") {
					// Two codecs take one program for all mixtures.
					id := rapid.SampledFrom([]codec.ID{codec.ParaPFor, codec.RPFD}).Draw(rt, "codec")
					handles = append(handles, src.Add(rt, id, codectest.Generators()[4].List(r.Uint64(), n, docs)))
				}
				src.Add(rt, codec.ParaPFor, []uint32{1})
				src.Add(rt, codec.RPFD, []uint32{1})
				s, err := loadFor(t.Context(), b, &src.Source)
				if err != nil {
					rt.Fatal(err)
				}
				defer s.close()
				batch := &plan.MatchBatch{Algorithm: plan.BS, CountOnly: rapid.Bool().Draw(rt, "count only")}
				batch.Add(&src.Source, handles...)
				batch.Add(&src.Source, handles[0])
				want := plantest.DecodedBlocks(rt, &src.Source, batch.Query(0), shape.Tile) + plantest.DecodedBlocks(rt, &src.Source, batch.Query(1), 0)
				for range 2 { // a repeated batch counts anew
					var out plan.Results
					if err := s.Match(devicetest.Limited(t), batch, &out); err != nil {
						rt.Fatal(err)
					}
					if out.Stats.Blocks != want {
						rt.Fatalf("kernels decode %d segments, document at a time %d", out.Stats.Blocks, want)
					}
				}
			})
		})
	}
}

// TestSkipCorrupt looks elements up in lists whose words change on the device, as
// no encoder writes them: any answer will do that is made of elements, in order.
func TestSkipCorrupt(t *testing.T) {
	testneeds.OneCaller(t)
	devicetest.ForShapes(t, devicetest.Find(t, ops), func(t *testing.T, b *device.Runtime) {
		for _, id := range gapCodecs {
			t.Run(id.String(), func(t *testing.T) {
				r := rand.New(rand.NewPCG(10, uint64(id)))
				src := &plan.Source{Docs: 1 << 14}
				for i, codecID := range []codec.ID{codec.Raw, id} { // the last list has the pad behind it
					docs := codectest.Generators()[4].List(r.Uint64(), 200+800*i, 1<<14)
					if _, err := src.Append(codecID, docs, codec.Options{ExceptionRatio: 0.2, RPFDLevels: 2}); err != nil {
						t.Fatal(err)
					}
				}
				s, err := loadFor(t.Context(), b, src)
				if err != nil {
					t.Fatal(err)
				}
				defer s.close()
				elements, l := src.List(0).Words, src.Lists[1]
				good := slices.Clone(src.List(1).Words)
				rounds := 60
				if devicetest.Small() {
					rounds = 12
				}
				for range rounds {
					words := &plan.Source{Words: slices.Clone(good), Lists: []plan.List{{Words: l.Words}}}
					devicetest.Damage(r, words, 0)
					at := s.set.Places[1]
					if err := b.WriteWords(t.Context(), s.set.Arena.Buffers[at.Buffer], 4*int(at.Off), words.Words); err != nil {
						t.Fatal(err)
					}
					var batch plan.MatchBatch
					var got plan.Results
					batch.Algorithm = plan.BS
					batch.Add(src, 0, 1)
					if err := s.Match(devicetest.Limited(t), &batch, &got); err != nil {
						t.Fatal(err)
					}
					for i, d := range got.Query(0) {
						if _, ok := slices.BinarySearch(elements, d); !ok || i > 0 && d <= got.Query(0)[i-1] {
							t.Fatalf("%v is not made of elements in order", got.Query(0))
						}
					}
				}
			})
		}
	})
}
