package rank

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// TestRankSelfTest runs the self-test of ranking over both shapes.
func TestRankSelfTest(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, ops)
	for name, shape := range devicetest.Shapes(d) {
		b, err := device.Open(t.Context(), d, device.Options{Tuning: &shape, SkipSelfTest: true})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		for _, a := range []plan.Accumulators{plan.AutoAccumulators, plan.RangeAccumulators} {
			if err := selfTest(t.Context(), b, []plan.Accumulators{a}); err != nil {
				t.Errorf("%s, accumulators %d: %v", name, a, err)
			}
		}
		if n := b.Memory.InUse(); n != 0 {
			t.Errorf("%d bytes are still reserved", n)
		}
	}
}

// TestRankOverflow ranks documents whose scores ascend, so that each passes the threshold
// of the documents before it. More candidates come than there is room for, and the query
// runs again. A query of descending scores runs once.
func TestRankOverflow(t *testing.T) {
	testneeds.OneCaller(t)
	const docs, k = 400_000, 10
	d := devicetest.Find(t, ops)
	for name, shape := range devicetest.Shapes(d) {
		b, err := device.Open(t.Context(), d, device.Options{Tuning: &shape, SkipSelfTest: true})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		var up [2]uint64
		for i, ascending := range []bool{false, true} {
			src := &plan.Source{Docs: docs, Impacts: 16}
			list, impacts := make([]uint32, docs), make([]uint32, docs)
			var want []uint32
			for d := range uint32(docs) {
				list[d], impacts[d] = d, 1+(docs-1-d)/8
				if ascending {
					impacts[d] = 1 + d/8
				}
			}
			for j := range uint32(k) { // eight documents share a score
				if best := docs/8 - 1 - j/8; ascending {
					want = append(want, best*8+j%8)
				} else {
					want = append(want, j)
				}
			}
			h, err := src.Append(codec.ParaPFor, list, codec.DefaultOptions())
			if err == nil {
				err = src.AppendFreqs(h, impacts, codec.DefaultOptions())
			}
			if err != nil {
				t.Fatal(err)
			}
			s, err := load(b, src)
			if err != nil {
				t.Fatal(err)
			}
			r := plan.RankBatch{K: k, Norm: plan.Norm{Impacts: 16}, Accumulators: plan.RangeAccumulators}
			r.Add(src, plan.Term{List: h, Weight: 1 << 31})
			var out plan.TopK
			if err := s.Rank(t.Context(), &r, &out); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(out.Docs, want) {
				t.Errorf("%s, ascending %t: documents %v, want %v", name, ascending, out.Docs, want)
			}
			up[i] = out.Stats.BytesUp
			if err := s.close(); err != nil {
				t.Error(err)
			}
		}
		if up[1] < 2*up[0] {
			t.Errorf("%s: %d bytes uploaded for ascending scores, %d for descending ones: nothing ran again", name, up[1], up[0])
		}
	}
}

// TestComponents compares term-frequency components of the device with plan.Norm.TF: for a
// weight of 2^32-1 a score is the component. Frequencies and lengths are as in text, and
// around the boundaries of the kernel's cases.
func TestComponents(t *testing.T) {
	testneeds.OneCaller(t)
	const docs = plan.MaxK
	d := devicetest.Find(t, ops)
	r := rand.New(rand.NewPCG(1, 2))
	src := &plan.Source{Docs: docs}
	list, freqs := make([]uint32, docs), make([]uint32, docs)
	for i := range list {
		list[i] = uint32(i)
		edge := uint32(1) << r.IntN(32)
		freqs[i] = []uint32{1 + r.Uint32N(3), 1 + r.Uint32N(70), max(edge+r.Uint32N(3)-1, 1), math.MaxUint32 - r.Uint32N(2)}[r.IntN(4)]
		src.Lengths = append(src.Lengths, []uint32{r.Uint32N(3), 900 + r.Uint32N(900), edge + r.Uint32N(2), math.MaxUint32}[r.IntN(4)])
	}
	h, err := src.Append(codec.Raw, list, codec.DefaultOptions())
	if err == nil {
		err = src.AppendFreqs(h, freqs, codec.DefaultOptions())
	}
	if err != nil {
		t.Fatal(err)
	}
	norms := []plan.Norm{{}, {Base: 1}, {Base: 1 << 10}, {Base: 1<<10 - 1}, {Base: 1<<30 - 1}, {Base: 1 << 30},
		{Base: math.MaxUint32, Slope: math.MaxUint32}, plan.NewNorm(0.9, 0.4, 900), plan.NewNorm(1.2, 0.75, 3.5), plan.NewNorm(0, 0, 1), plan.NewNorm(255, 1, 1)}
	for range 10 {
		norms = append(norms, plan.Norm{Base: r.Uint32() >> r.IntN(32), Slope: r.Uint32() >> r.IntN(32), Shift: uint8(r.IntN(64))})
	}
	for name, shape := range devicetest.Shapes(d) {
		b, err := device.Open(t.Context(), d, device.Options{Tuning: &shape, SkipSelfTest: true})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		s, err := load(b, src)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		for _, mode := range []plan.Mode{plan.Or, plan.And} {
			for _, n := range norms {
				ranks := plan.RankBatch{Mode: mode, K: docs, Norm: n}
				ranks.Add(src, plan.Term{List: h, Weight: math.MaxUint32})
				var out plan.TopK
				if err := s.Rank(t.Context(), &ranks, &out); err != nil {
					t.Fatal(err)
				}
				if len(out.Docs) != docs {
					t.Fatalf("%s, %v: %d documents", name, mode, len(out.Docs))
				}
				for i, d := range out.Docs {
					if want := n.TF(freqs[d], src.Lengths[d]); out.Scores[i] != want {
						t.Fatalf("%s, %v, %+v: frequency %d, length %d: share %d, want %d", name, mode, n, freqs[d], src.Lengths[d], out.Scores[i], want)
					}
				}
			}
		}
	}
}
