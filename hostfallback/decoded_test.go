package hostfallback

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/hostfallback/internal/hosttest"
)

// TestDecodedBlocks compares the blocks that a conjunction decodes with the blocks that a
// document-at-a-time evaluation enters: both skip the same blocks (Ding et al. 2009, section
// 8.1). Algorithms with tables are left out: a safe range may show that a docID is absent, before
// any block is decoded.
func TestDecodedBlocks(t *testing.T) {
	const docs = 1 << 16
	gaps := []codec.ID{codec.VByte, codec.Rice, codec.PFD, codec.NewPFD, codec.RPFD, codec.ParaPFor}
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 9))
		src := plantest.NewSource(docs)
		var handles []plan.Handle
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, 12_000), 1, 4).Draw(rt, "lengths") {
			handles = append(handles, src.Add(rt, rapid.SampledFrom(gaps).Draw(rt, "codec"), hosttest.Uniform(r, n, docs)))
		}
		b := &plan.MatchBatch{Algorithm: rapid.SampledFrom([]plan.Algorithm{plan.BS, plan.IS, plan.PMF0, plan.PMF3, plan.MergePath, plan.Gallop, plan.SvS}).Draw(rt, "algorithm")}
		b.Add(&src.Source, handles...)
		backend := New(Options{Threads: rapid.IntRange(1, 2).Draw(rt, "threads")})
		defer backend.Close()
		st, err := backend.Load(t.Context(), &src.Source)
		if err != nil {
			rt.Fatal(err)
		}
		defer st.Close()
		want := plantest.DecodedBlocks(rt, &src.Source, b.Query(0), 0)
		for range 2 { // a repeated batch counts anew
			var out plan.Results
			if err := st.Match(t.Context(), b, &out); err != nil {
				rt.Fatal(err)
			}
			if out.Stats.Blocks != want {
				rt.Fatalf("%v decodes %d blocks, document at a time %d", b.Algorithm, out.Stats.Blocks, want)
			}
		}
	})
}
