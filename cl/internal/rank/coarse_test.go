package rank

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/engine/plan/reference"
	"heddle/engine/plan/testneeds"
)

// TestCoarseBounds draws the terms of a query and the shares of a document: sums of bounds
// keep to their bits, the lower one is not above the score, and the upper one comes to the
// limit of coarse_sums for every threshold up to the score.
func TestCoarseBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wide := rapid.Bool().Draw(t, "wide")
		n := rapid.IntRange(1, map[bool]int{false: narrowTerms, true: coarseTerms}[wide]).Draw(t, "terms")
		all := rapid.Bool().Draw(t, "all") && (wide || n == 1)
		left := uint64(math.MaxUint32)
		var q []plan.Term
		score, shares := uint64(0), make([]uint32, n)
		for i := range shares {
			most := left - uint64(n-1-i)
			w := uint32(rapid.Uint64Range(1, most).Draw(t, "weight"))
			if rapid.Bool().Draw(t, "small") {
				w = uint32(rapid.Uint64Range(1, min(most, 1000)).Draw(t, "small weight"))
			}
			left -= uint64(w)
			q = append(q, plan.Term{Weight: w})
			shares[i] = rapid.OneOf(rapid.Uint32Range(1, math.MaxUint32), rapid.Uint32Min(math.MaxUint32-300), rapid.Uint32Range(1, 300)).Draw(t, "share")
			score += uint64(plan.Contribution(w, shares[i]))
		}
		upper, lower := coarseUnits(q, wide, all)
		above, below, most, mostBelow := uint64(0), uint64(0), uint64(0), uint64(0)
		for i, x := range q {
			s := shares[i]
			c := uint64(s)*255>>32 + 1
			w, v := uint64(upperWeight(x.Weight, upper)), 257*uint64(x.Weight/lower)
			if v > math.MaxUint32/255 {
				t.Fatalf("weight %d of lower bounds", v)
			}
			above, below = above+(w*c+255)>>8, below+v*(c-1)>>16
			most, mostBelow = most+(w*255+255)>>8, mostBelow+v*254>>16
		}
		full := map[bool]uint64{false: 255, true: 1<<16 - 1}
		if all { // less than each_of in coarse.cl
			full[true] = full[true]/uint64(n+1) - 1
		}
		if most > full[wide] || mostBelow > full[true] {
			t.Errorf("sums up to %d and %d", most, mostBelow)
		}
		if below*uint64(lower) > score {
			t.Errorf("score %d is below %d units of %d", score, below, lower)
		}
		theta := rapid.Uint64Range(1, score).Draw(t, "threshold")
		if least := max((theta-min(theta, uint64(n)))/uint64(upper), 1); above < least {
			t.Errorf("score %d comes to %d, its bound %d of units of %d does not come to %d", score, theta, above, upper, least)
		}
	})
}

// coarseKinds are kinds of collections: where documents lie, and which frequencies they have.
var coarseKinds = []struct {
	name string
	docs func(universe uint32, n int, r *rand.Rand) []uint32
	freq func(r *rand.Rand, doc uint32) uint32
}{
	{"uniform", plantest.Uniform, func(r *rand.Rand, _ uint32) uint32 { return 1 + r.Uint32N(4)*r.Uint32N(3) }},
	{"clustered", plantest.Clustered, func(r *rand.Rand, _ uint32) uint32 { return 1 + r.Uint32N(60) }},
	{"the best come last", plantest.Uniform, func(_ *rand.Rand, doc uint32) uint32 { return 1 + doc>>8 }},
	{"terms agree", plantest.Uniform, func(_ *rand.Rand, doc uint32) uint32 { return 1 + doc*2654435761>>26 }},
}

// coarseSource makes a source with lists of random access from few to nearly all documents.
func coarseSource(t *testing.T, r *rand.Rand, kind int, docs uint32) *plantest.Source {
	s := plantest.NewRanked(r, docs, 0, plantest.LengthKinds[0].One)
	for i := range 24 {
		n := max(int(docs)>>(i%12)*(8+r.IntN(7))/16, 1)
		list := coarseKinds[kind].docs(docs, n, r)
		freqs := make([]uint32, len(list))
		for j, d := range list {
			freqs[j] = coarseKinds[kind].freq(r, d)
		}
		s.AddRanked(t, []codec.ID{codec.ParaPFor, codec.Raw, codec.Bitset}[i%3], list, freqs)
	}
	return s
}

// TestCoarse compares the coarse path with the reference, over every kind of collection, for
// sums of 8 and of 16 bits, of OR and of AND, without bitsets and with them. Most queries must
// take it; of the others more documents are found than there is room for, or AND looks few
// documents up.
func TestCoarse(t *testing.T) {
	testneeds.OneCaller(t)
	d := devicetest.Find(t, ops)
	for shape, row := range devicetest.Shapes(d) {
		for kind := range coarseKinds {
			t.Run(fmt.Sprint(shape, ", ", coarseKinds[kind].name), func(t *testing.T) {
				r, docs := rand.New(rand.NewPCG(5, uint64(kind))), uint32(30_000)
				if kind == 0 { // each group takes several ranges
					normal := leastGroups
					leastGroups, docs = func(device.Tuning) int { return 1 }, 80_000
					defer func() { leastGroups = normal }()
				}
				s := coarseSource(t, r, kind, docs)
				rk, err := load(devicetest.OpenRow(t, d, row, false), &s.Source)
				if err != nil {
					t.Fatal(err)
				}
				defer rk.close()
				b := plan.RankBatch{Norm: s.Norm(0.9, 0.4)}
				for _, n := range []int{1, 1, 2, 3, 4, 8, 9, 24} {
					var terms []plan.Handle
					for range n {
						terms = append(terms, r.Uint32N(uint32(len(s.Lists))))
					}
					b.Add(&s.Source, plantest.Weighted(r, terms...)...)
				}
				b.Add(&s.Source)
				for _, bitsets := range []bool{false, true} {
					if bitsets {
						if err := rk.set.ChooseAuto(t.Context()); err != nil {
							t.Fatal(err)
						}
					}
					for _, b.Mode = range []plan.Mode{plan.Or, plan.And} {
						want := s.Plain.Rank(&b)
						for _, b.K = range []int{1, 10, 1000} {
							compareCoarse(t, rk, &b, want)
							if n := b.Queries(); !bitsets && b.K == 10 { // one at a time, without a higher threshold
								b.Offsets = b.Offsets[:2]
								compareCoarse(t, rk, &b, want[:1])
								b.Offsets = b.Offsets[:n+1]
							}
						}
					}
				}
			})
		}
	}
}

// compareCoarse ranks b and checks answers and path.
func compareCoarse(t *testing.T, rk *Ranker, b *plan.RankBatch, want [][]reference.Hit) {
	t.Helper()
	var out plan.TopK
	if err := rk.run(t.Context(), b, &out); err != nil {
		t.Fatal(err)
	}
	for i := range b.Queries() {
		if !slices.Equal(KeysOf(&out, i), KeysOfHits(want[i], b.K)) {
			t.Errorf("k = %d, query %d of %d terms: other documents or scores", b.K, i, len(b.Query(i)))
		}
	}
	x, err := rk.free.Take(t.Context(), rk.set.Closing, rk.newSlot)
	if err != nil {
		t.Fatal(err)
	}
	defer x.giveBack()
	done := 0
	for _, coarse := range x.cut.done {
		if coarse {
			done++
		}
	}
	least := (b.Queries() + 1) / 2
	if b.Mode == plan.And {
		least = 1
	}
	if n := b.Queries(); done < least {
		t.Errorf("%v, k = %d: %d of %d queries took the coarse path", b.Mode, b.K, done, n)
	}
}

// TestCoarseOverflow ranks a list whose documents all have one score: more are found than
// there is room for, and the exhaustive path answers. The queries beside it keep their only document.
func TestCoarseOverflow(t *testing.T) {
	testneeds.OneCaller(t)
	const docs = 3 * coarseFound
	src := &plan.Source{Docs: docs, Impacts: 8}
	list, impacts := make([]uint32, docs), make([]uint32, docs)
	for i := range list {
		list[i], impacts[i] = uint32(i), 7
	}
	for h, n := range []int{docs, 1} {
		_, err := src.Append(codec.ParaPFor, list[:n], codec.DefaultOptions())
		if err == nil {
			err = src.AppendFreqs(plan.Handle(h), impacts[:n], codec.DefaultOptions())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	devicetest.ForShapes(t, devicetest.Find(t, ops), func(t *testing.T, rt *device.Runtime) {
		rk, err := load(rt, src)
		if err != nil {
			t.Fatal(err)
		}
		defer rk.close()
		b := plan.RankBatch{K: 3, Norm: plan.Norm{Impacts: 8}}
		for _, h := range []plan.Handle{1, 0, 1, 0, 1} {
			b.Add(src, plan.Term{List: h, Weight: 1 << 30})
		}
		var out plan.TopK
		if err := rk.run(t.Context(), &b, &out); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(out.Docs, []uint32{0, 0, 1, 2, 0, 0, 1, 2, 0}) {
			t.Errorf("documents %v", out.Docs)
		}
	})
}

// TestPacketsMakeRoom reserves the memory that packets hold: they give it back, and later
// batches run without them.
func TestPacketsMakeRoom(t *testing.T) {
	testneeds.OneCaller(t)
	src, r, want := rankQuestion(t, plan.Or)
	b := devicetest.OpenRow(t, devicetest.Find(t, ops), devicetest.Find(t, ops).Tuning(), false)
	s, err := load(b, src)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	for range 2 {
		var out plan.TopK
		if err := s.run(t.Context(), r, &out); err != nil || !slices.Equal(KeysOf(&out, 0), want) {
			t.Fatalf("%d documents, or others, want %d: %v", len(out.Docs), len(want), err)
		}
		if s.held.off {
			break
		}
		if s.held.store == nil {
			t.Fatal("no packets were made")
		}
		left := b.Memory.Left() + 1
		if err := b.Memory.Reserve(left, "a test"); err != nil {
			t.Fatal(err)
		}
		b.Memory.Unreserve(left)
		if s.held.store != nil {
			t.Error("the packets are still there")
		}
	}
}

// TestPacketsFollowNorm ranks two batches under a Norm, then others under another one: answers
// follow the Norm, and packets change to it with its second batch.
func TestPacketsFollowNorm(t *testing.T) {
	testneeds.OneCaller(t)
	r := rand.New(rand.NewPCG(6, 7))
	s := coarseSource(t, r, 0, 9000)
	d := devicetest.Find(t, ops)
	rk, err := load(devicetest.OpenRow(t, d, d.Tuning(), false), &s.Source)
	if err != nil {
		t.Fatal(err)
	}
	defer rk.close()
	b := plan.RankBatch{K: 10}
	b.Add(&s.Source, plantest.Weighted(r, 1, 2, 5)...)
	for i := range 6 {
		b.Norm = s.Norm(0.9, 0.4)
		if i > 1 {
			b.Norm = s.Norm(2, 0.9)
		}
		var out plan.TopK
		if err := rk.run(t.Context(), &b, &out); err != nil {
			t.Fatal(err)
		}
		if want := s.Plain.Rank(&b)[0]; !slices.Equal(KeysOf(&out, 0), KeysOfHits(want, b.K)) {
			t.Fatalf("batch %d: other documents or scores", i)
		}
		if changed := rk.held.store.Norm == s.Norm(2, 0.9); changed != (i > 2) {
			t.Errorf("batch %d: packets changed to the new Norm: %t", i, changed)
		}
	}
}

// TestKeysTogether ranks lists whose documents have few scores or one, so that about as many keys come to the threshold
// as coarse_complete compares with each other, and more.
func TestKeysTogether(t *testing.T) {
	testneeds.OneCaller(t)
	const most = 256 // BEST_KEYS of the kernel
	d := devicetest.Find(t, ops)
	r := rand.New(rand.NewPCG(3, 1))
	s := plantest.NewRanked(r, 30_000, 0, plantest.LengthKinds[0].One)
	b := plan.RankBatch{Norm: s.Norm(0.9, 0), K: 100}
	// Of one key too much the last one that came would be lost: it is one of the best 100 of some queries.
	for i, n := range append([]int{most - 1, most, most + 1, most + 2, 600, 600, 3000}, slices.Repeat([]int{most + 1}, 20)...) {
		docs, freqs := plantest.Uniform(s.Docs, n, r), make([]uint32, n)
		for j, at := range r.Perm(n) {
			if freqs[j] = 1 + r.Uint32N(1+uint32(i%2)); i%3 == 2 || i > 6 { // scores differ, and components of 8 bits are equal
				freqs[j] = 5000 + uint32(at)
			}
		}
		s.AddRanked(t, codec.Raw, docs, freqs)
		b.Add(&s.Source, plantest.Weighted(r, plan.Handle(i))...)
	}
	want := s.Plain.Rank(&b)
	devicetest.ForShapes(t, d, func(t *testing.T, rt *device.Runtime) {
		rk, err := load(rt, &s.Source)
		if err != nil {
			t.Fatal(err)
		}
		defer rk.close()
		for _, b.K = range []int{1, 100} {
			compareCoarse(t, rk, &b, want)
		}
	})
}
