package lookup

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"heddle/codec"
	"heddle/codec/codectest"
	"heddle/engine/plan"
	"heddle/engine/plan/reference"
	"heddle/engine/plan/testneeds"
	"heddle/hostfallback/internal/hosttest"
	"heddle/hostfallback/work"
)

// TestBlocks: every algorithm finds the same docIDs in compressed lists of every codec, with
// few candidates and with many.
func TestBlocks(t *testing.T) {
	testneeds.Sequential(t)
	r := rand.New(rand.NewPCG(20, 4))
	const universe = 1 << 18
	for _, id := range codec.IDs() {
		for _, g := range codectest.Generators() {
			docs := g.Gen(r, 6000, universe)
			if len(docs) == 0 {
				continue
			}
			aux := New(hosttest.Source(t, universe, []codec.ID{id}, docs), work.NewBudget(0, 1<<30))
			for _, candidates := range []int{1, 3, 40, 3000} {
				cand := hosttest.Uniform(r, candidates, universe)
				for range candidates/2 + 1 {
					cand = append(cand, docs[r.IntN(len(docs))])
				}
				slices.Sort(cand)
				cand = slices.Compact(cand)
				want := reference.Intersect(cand, docs)
				for _, a := range Algorithms {
					var p Prober
					if err := p.Open(aux, a, 0, nil, len(cand)); err != nil {
						t.Fatal(err)
					}
					dst := make([]uint32, len(cand))
					half := len(cand) / 2 // candidates ascend from call to call
					n, err := p.Filter(dst, cand[:half], false)
					m, err2 := p.Filter(dst[n:], cand[half:], false)
					if err != nil || err2 != nil || !slices.Equal(dst[:n+m], want) {
						t.Fatalf("%v of %v, %s, %d candidates: %d docIDs, want %d; %v, %v", a, id, g.Name, len(cand), n+m, len(want), err, err2)
					}
				}
			}
		}
	}
}

// TestProbe: few candidates in a list of a line codec decode single docIDs: a damaged docID
// that no search meets does not matter. Many candidates decode whole blocks.
func TestProbe(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 7))
	const universe = 1 << 20
	docs := hosttest.Uniform(r, 50_000, universe)
	for _, id := range []codec.ID{codec.LRC, codec.LRCPFor, codec.LRCSeg, codec.SegLRC, codec.HSLRC128, codec.HSLRC256} {
		words, err := codec.Append(nil, id, docs, codec.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		var b blocks
		if err := b.open(codec.List{Codec: id, Len: uint32(len(docs)), Words: words}); err != nil {
			t.Fatal(err)
		}
		few := []uint32{docs[10], docs[25_000], docs[49_990]}
		dst := make([]uint32, len(docs))
		if n, err := b.filter(dst, few, &finder{algorithm: plan.LR}); n != 3 || err != nil || b.cached >= 0 {
			t.Errorf("%v: %d of 3 found, block %d decoded, %v", id, n, b.cached, err)
		}
		if n, err := b.filter(dst, docs, &finder{algorithm: plan.LR}); n != len(docs) || err != nil || b.cached < 0 {
			t.Errorf("%v: %d of %d found, block %d decoded, %v", id, n, len(docs), b.cached, err)
		}
	}
}

// TestDescribeBlocks: the text names the algorithm that runs.
func TestDescribeBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 8))
	const universe = 1 << 20
	docs := hosttest.Uniform(r, 3000, universe)
	aux := New(hosttest.Source(t, universe, []codec.ID{codec.ParaPFor, codec.SegLRC, codec.LRC, codec.HSLRC256}, docs, docs, docs, docs), work.NewBudget(0, 1<<30))
	const single = "; single docIDs below a candidate in 2 blocks"
	for _, test := range []struct {
		a    plan.Algorithm
		h    plan.Handle
		want string
	}{
		{plan.SegStep, 0, "bs: 3000 in 24 blocks"}, {plan.BSLoop, 0, "bs: 3000 in 24 blocks"}, {plan.SkipList, 0, "bs: 3000 in 24 blocks"}, {plan.SvS, 0, "bs: 3000 in 24 blocks"},
		{plan.PMF3, 0, "bs in 24 blocks, then pmf3 in a block"}, {plan.Gallop, 1, "bs in 12 blocks, then gallop in a block"},
		{plan.BS, 1, "bs: 3000 in 12 blocks" + single}, {plan.HS16, 0, "hs: buckets of 11.7 in 24 blocks, then bs in a block"},
		{plan.BS, 3, "the hash of the list in 16 blocks" + single}, {plan.LR, 3, "the hash of the list in 16 blocks" + single},
		{plan.LR, 2, "the line of the list in 12 blocks" + single},
	} {
		if got := aux.Explain(test.a, test.h); got != test.want {
			t.Errorf("%v of list %d: %q, want %q", test.a, test.h, got, test.want)
		}
	}
	if got, want := aux.Explain(plan.LR, 1), "lr: safe range of "; !strings.HasPrefix(got, want) {
		t.Errorf("%q does not start with %q", got, want)
	}
}

// BenchmarkSparse compares single docIDs with whole blocks, by blocks for each candidate: the
// measurement behind blocksPerProbe.
func BenchmarkSparse(b *testing.B) {
	r := rand.New(rand.NewPCG(20, 9))
	const universe = 1 << 20
	docs := hosttest.Uniform(r, 200_000, universe)
	for _, id := range []codec.ID{codec.LRC, codec.LRCPFor, codec.SegLRC, codec.HSLRC256} {
		words, err := codec.Append(nil, id, docs, codec.DefaultOptions())
		if err != nil {
			b.Fatal(err)
		}
		var list blocks
		if err := list.open(codec.List{Codec: id, Len: uint32(len(docs)), Words: words}); err != nil {
			b.Fatal(err)
		}
		for _, ratio := range []int{1, 2, 4, 8, 16} {
			cand := hosttest.Uniform(r, list.view.Count()/ratio, universe)
			dst := make([]uint32, len(cand))
			f := finder{algorithm: plan.BS}
			for name, filter := range map[string]func(dst, cand []uint32, f *finder) (int, error){"docIDs": list.probe, "blocks": list.filterBlocks} {
				b.Run(fmt.Sprintf("%v/%d/%s", id, ratio, name), func(b *testing.B) {
					for range b.N {
						list.cached = -1
						if _, err := filter(dst, cand, &f); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(cand)), "ns/candidate")
				})
			}
		}
	}
}
