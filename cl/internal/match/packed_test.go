package match

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"heddle/cl/internal/device/devicetest"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/reference"
	"heddle/engine/plan/testneeds"
)

// gapped generates ascending docIDs with gaps up to a width in bits.
func gapped(least, most int) *rapid.Generator[[]uint32] {
	return rapid.Custom(func(t *rapid.T) []uint32 {
		bits := rapid.IntRange(0, 14).Draw(t, "bits of a gap")
		at := rapid.Uint32Range(0, 1<<20).Draw(t, "first docID")
		gaps := rapid.SliceOfN(rapid.Uint32Range(1, 1<<bits), least, most).Draw(t, "gaps")
		for i, g := range gaps {
			at += g
			gaps[i] = at
		}
		return gaps
	})
}

// TestUnpack unpacks blocks of all widths, with and without room behind the docIDs.
func TestUnpack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := gapped(1, 300).Draw(t, "docIDs")
		width := 32
		for _, w := range []int{28, 24, 20, 16, 12, 8, 4} {
			if docs[len(docs)-1]-docs[0] < 1<<w {
				width = w
			}
		}
		width = rapid.SampledFrom([]int{width, min(width+4, 32), 32}).Draw(t, "width")
		block := append(pack(docs, width), make([]uint32, unpackSlack)...)
		to := make([]uint32, len(docs)+rapid.IntRange(0, 20).Draw(t, "room"))
		unpack(to, block, packedTile{n: len(docs), width: width})
		if !slices.Equal(to[:len(docs)], docs) {
			t.Fatalf("%d docIDs of %d bits: got %d, want %d", len(docs), width, to[:len(docs)], docs)
		}
	})
}

// TestPacked compares conjunctions whose docIDs come packed with the plain evaluator, and the
// bytes that come with the bytes of docIDs that do not.
func TestPacked(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, ops)
	for name, form := range mergeForms(d) {
		t.Run(name, func(t *testing.T) {
			form.PackLeast = 1
			rt := devicetest.OpenRow(t, d, form, false)
			rapid.Check(t, func(t *rapid.T) {
				src := &plan.Source{Docs: mergeDocs}
				var postings [][]uint32
				for range rapid.IntRange(1, 4).Draw(t, "lists") {
					docs := gapped(0, 900).Draw(t, "docIDs")
					if len(postings) > 0 && rapid.Bool().Draw(t, "in common") {
						docs = append(docs, postings[0]...)
						slices.Sort(docs)
						docs = slices.Compact(docs)
					}
					id := rapid.SampledFrom([]codec.ID{codec.Raw, codec.ParaPFor}).Draw(t, "codec")
					if _, err := src.Append(id, docs, codec.DefaultOptions()); err != nil {
						t.Fatal(err)
					}
					postings = append(postings, docs)
				}
				b := plan.MatchBatch{Algorithm: rapid.SampledFrom([]plan.Algorithm{plan.HS16, plan.MergePath}).Draw(t, "algorithm")}
				for range rapid.IntRange(1, 9).Draw(t, "queries") {
					b.Add(src, rapid.SliceOfN(rapid.Uint32Range(0, uint32(len(postings)-1)), 0, 3).Draw(t, "query")...)
				}
				s, err := load(t.Context(), rt, src, rt.Tuning.RoundTiles, 2)
				if err != nil {
					t.Fatal(err)
				}
				defer s.close()
				s.packRate.Store(rapid.Uint64Range(0, 1<<16).Draw(t, "words per candidate"))
				var out, plain plan.Results
				if err := s.run(t.Context(), &b, &out); err != nil {
					t.Fatal(err)
				}
				for i := range b.Queries() {
					if want := reference.Conjunction(postings, b.Query(i)...); !slices.Equal(out.Query(i), want) {
						t.Fatalf("query %d: docIDs %d, want %d", i, out.Query(i), want)
					}
				}
				s.packLeast = 0
				if err := s.run(t.Context(), &b, &plain); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(out.Docs, plain.Docs) || !slices.Equal(out.Offsets, plain.Offsets) {
					t.Fatal("packed and plain results differ")
				}
			})
		})
	}
}

// TestPackedBytes sends a long list packed: 8 bits and less for each docID.
func TestPackedBytes(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, ops)
	row := d.Tuning()
	row.PackLeast = 1
	rt := devicetest.OpenRow(t, d, row, false)
	src := &plan.Source{Docs: 1 << 20}
	docs := make([]uint32, 200_000)
	for i := range docs {
		docs[i] = uint32(i)
	}
	if _, err := src.Append(codec.Raw, docs, codec.DefaultOptions()); err != nil {
		t.Fatal(err)
	}
	s, err := load(t.Context(), rt, src, rt.Tuning.RoundTiles, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	b := plan.MatchBatch{}
	b.Add(src, 0)
	var out plan.Results
	for range 20 { // the rate of earlier rounds
		if err := s.run(t.Context(), &b, &out); err != nil {
			t.Fatal(err)
		}
	}
	if n := out.Stats.BytesDown; !slices.Equal(out.Docs, docs) || n > 2*uint64(len(docs)) {
		t.Errorf("%d docIDs came in %d bytes", len(out.Docs), n)
	}
}

// pack is a plain form of kernels/pack.cl for one tile.
func pack(docs []uint32, width int) []uint32 {
	if width == 32 {
		return slices.Clone(docs)
	}
	block := make([]uint32, packedTile{n: len(docs), width: width}.words())
	block[0] = docs[0]
	for i, d := range docs {
		for bit := range width {
			at := i/2*width + bit
			block[1+at/32*2+i%2] |= (d - docs[0]) >> bit & 1 << (at % 32)
		}
	}
	return block
}

func BenchmarkUnpack(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{20, 64, 256} {
		for _, width := range []int{4, 8, 12, 16, 20, 24, 28, 32} {
			docs := make([]uint32, n)
			for i := range docs {
				docs[i] = 5 + r.Uint32N(1<<min(width, 31))
			}
			docs[0] = 5
			block := append(pack(docs, width), make([]uint32, unpackSlack)...)
			to := make([]uint32, n+16)
			b.Run(strconv.Itoa(n)+"/"+strconv.Itoa(width), func(b *testing.B) {
				for b.Loop() {
					unpack(to, block, packedTile{n: n, width: width})
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/doc")
			})
			if !slices.Equal(to[:n], docs) {
				b.Fatal(n, width)
			}
		}
	}
}
