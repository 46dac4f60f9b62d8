package lookup

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/codec"
	"heddle/codec/codectest"
	"heddle/engine/plan"
	"heddle/engine/plan/reference"
	"heddle/engine/plan/testneeds"
	"heddle/hostfallback/internal/hosttest"
	"heddle/hostfallback/internal/match/docset"
)

// inPieces calls a sequential search for one piece of cand after another.
func inPieces(filter func(dst, cand []uint32, at int) (n, next int)) func(dst, cand []uint32) int {
	return func(dst, cand []uint32) int {
		n, at := 0, 0
		for size := 1; len(cand) > 0; size = size*3 + 1 {
			size = min(size, len(cand))
			var k int
			k, at = filter(dst[n:], slices.Clone(cand[:size]), at)
			n, cand = n+k, cand[size:]
		}
		return n
	}
}

// tableless returns the searches without tables by name.
func tableless(docs []uint32) map[string]func(dst, cand []uint32) int {
	all := map[string]func(dst, cand []uint32) int{
		"binary":        func(dst, cand []uint32) int { return filterBinary(dst, cand, docs) },
		"interpolation": func(dst, cand []uint32) int { return filterInterpolation(dst, cand, docs) },
		"merge": func(dst, cand []uint32) int {
			n, _ := filterMerge(dst, cand, docs, 0)
			return n
		},
		"loop": func(dst, cand []uint32) int { return filterLoop(dst, cand, docs) },
		"merge two": func(dst, cand []uint32) int {
			if len(cand) == 0 {
				return 0
			}
			return mergeTwo(dst, cand, docs)
		},
	}
	for name, filter := range map[string]func(dst, cand []uint32, at int) (n, next int){
		"gallop":          func(dst, cand []uint32, at int) (int, int) { return filterGallop(dst, cand, docs, at) },
		"rest":            func(dst, cand []uint32, at int) (int, int) { return filterRest(dst, cand, docs, at) },
		"merge in pieces": func(dst, cand []uint32, at int) (int, int) { return filterMerge(dst, cand, docs, at) },
		"merge one":       func(dst, cand []uint32, at int) (int, int) { return mergeOne(dst, cand, docs, at) },
		"steps of 8":      func(dst, cand []uint32, at int) (int, int) { return filterSteps(dst, cand, docs, 8, at) },
		"steps of 100":    func(dst, cand []uint32, at int) (int, int) { return filterSteps(dst, cand, docs, 100, at) },
	} {
		all[name] = inPieces(filter)
	}
	for levels := range 5 {
		all[fmt.Sprint("pmf", levels)] = func(dst, cand []uint32) int { return filterPMF(dst, cand, docs, levels) }
	}
	return all
}

// filters returns all searches by name.
func filters(docs []uint32, universe uint32) map[string]func(dst, cand []uint32) int {
	all := tableless(docs)
	skips := newSkips(docs)
	all["skips"] = inPieces(func(dst, cand []uint32, at int) (int, int) { return filterSkips(dst, cand, docs, skips, at) })
	words := docset.NewWords(docs, 0)
	all["words"] = inPieces(words.Filter)
	if len(docs) > 0 {
		line := codec.FitLine(docs)
		all["line"] = func(dst, cand []uint32) int { return filterLine(dst, cand, docs, &line) }
		split := lines{codec.FitLines(docs)}
		all["lines of segments"] = func(dst, cand []uint32) int { return filterLocal(dst, cand, docs, &split) }
		for _, m := range []uint32{4, localBucket} {
			l := newLocal(docs, codec.BucketShift(uint32(len(docs)), universe, m))
			all[fmt.Sprint("local ranges of ", m)] = func(dst, cand []uint32) int { return filterLocal(dst, cand, docs, &l) }
		}
	}
	for _, m := range []uint32{1, 4, 16, 256} {
		shift := codec.BucketShift(uint32(len(docs)), universe, m)
		b := &Buckets{First: codec.AppendBuckets(nil, docs, shift), Shift: shift}
		name := fmt.Sprint("buckets of ", m)
		all[name] = func(dst, cand []uint32) int { return filterBuckets(dst, cand, docs, b) }
		sieve := newSieve(docs, 8)
		all["sieve, "+name] = func(dst, cand []uint32) int {
			return filterBuckets(dst, dst[:filterSieve(dst, cand, sieve)], docs, b)
		}
	}
	if universe < 1<<24 {
		t := Auxiliary{}
		t.Source = &plan.Source{Docs: universe}
		set := t.newBitset(docs)
		all["bits"] = func(dst, cand []uint32) int { touch(cand, set); return filterBits(dst, cand, set) }
	}
	return all
}

func TestFilters(t *testing.T) {
	testneeds.Sequential(t)
	r := rand.New(rand.NewPCG(2, 1))
	for _, universe := range []uint32{200, 100_000, math.MaxUint32} {
		for _, g := range codectest.Generators() {
			for _, n := range []int{1, 2, 3, 4, 5, 31, 33, 700} {
				docs := g.Gen(r, n, uint64(universe))
				for _, candidates := range []int{0, 1, 3, 4, 5, 8, 250} {
					cand := hosttest.Uniform(r, candidates, universe)
					for range candidates / 2 { // so that something is found
						if len(docs) > 0 {
							cand = append(cand, docs[r.IntN(len(docs))])
						}
					}
					slices.Sort(cand)
					cand = slices.Compact(cand)
					want := reference.Intersect(cand, docs)
					for name, filter := range filters(docs, universe) {
						dst := make([]uint32, len(cand))
						if got := dst[:filter(dst, cand)]; !slices.Equal(got, want) {
							t.Fatalf("%s, %d of %s in %d, %d candidates: %v, want %v", name, n, g.Name, universe, len(cand), got, want)
						}
						copy(dst, cand) // in place
						if got := dst[:filter(dst, dst)]; !slices.Equal(got, want) {
							t.Fatalf("%s in place, %d of %s in %d, %d candidates: %v, want %v", name, n, g.Name, universe, len(cand), got, want)
						}
					}
				}
			}
		}
	}
}

// TestFiltersStayInBounds: lists and candidates out of order, as in a damaged raw list, give
// any answer within bounds.
func TestFiltersStayInBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 300 {
		cand, docs := make([]uint32, r.IntN(40)), make([]uint32, r.IntN(40))
		for i := range cand {
			cand[i] = r.Uint32() >> r.IntN(32)
		}
		for i := range docs {
			docs[i] = r.Uint32() >> r.IntN(32)
		}
		dst := make([]uint32, len(cand))
		sound := hosttest.Uniform(r, 40, 5000)
		for name, filter := range filters(sound, 5000) { // tables are made of sound lists only
			if n := filter(dst, cand); n > len(cand) {
				t.Fatalf("%s: %d of %d", name, n, len(cand))
			}
		}
		for name, filter := range tableless(docs) {
			if n := filter(dst, cand); n > len(cand) {
				t.Fatalf("%s: %d of %d", name, n, len(cand))
			}
		}
		if i := docset.LowerBound(docs, r.Uint32()); i > len(docs) {
			t.Fatalf("lower bound %d of %d", i, len(docs))
		}
	}
}

func TestContainsAndLowerBound(t *testing.T) {
	for n := range 70 {
		docs := make([]uint32, n)
		for i := range docs {
			docs[i] = uint32(3*i + 1)
		}
		if n > 0 {
			docs[n-1] = math.MaxUint32
		}
		for x := range uint32(3*n + 5) {
			at, found := slices.BinarySearch(docs, x)
			if got := docset.LowerBound(docs, x); got != at {
				t.Fatalf("lower bound of %d in %v: %d", x, docs, got)
			}
			if got := contains(docs, x) == 1; got != found {
				t.Fatalf("%d in %v: %t", x, docs, got)
			}
		}
		if n > 0 && (contains(docs, math.MaxUint32) != 1 || docset.LowerBound(docs, math.MaxUint32) != n-1) {
			t.Fatalf("the largest of all in %v", docs)
		}
	}
}

func TestGallop(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 2))
	for range 3000 {
		docs := hosttest.Uniform(r, r.IntN(100), 300)
		x := r.Uint32N(310)
		want, _ := slices.BinarySearch(docs, x)
		if got := docset.Gallop(docs, x); got != want {
			t.Fatalf("%d in %v: %d, want %d", x, docs, got, want)
		}
	}
}
