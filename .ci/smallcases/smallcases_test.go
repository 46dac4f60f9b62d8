// Package smallcases runs every kernel, in both shapes, on cases that an interpreter of
// OpenCL C completes in a minute: lists of every codec, whole and cut at the borders of
// segments and tiles, with every kind of probe. Oclgrind checks these cases; the suite of
// package cl covers far more.
//
// The device is the first whose name contains HEDDLE_TEST_DEVICE.
package smallcases

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"heddle/cl"
	"heddle/codec"
	"heddle/engine/plan"
)

const universe = 12_000 // two ranges of expressions

// gaps between docIDs: small ones, and a large one now and then, which becomes an
// exception of parapfor; or none at all for stretches.
func gaps(n int, f func(i int) uint32) (docs []uint32) {
	d := uint32(3)
	for i := range n {
		docs = append(docs, d)
		d += f(i)
	}
	return docs
}

var lists = map[string][]uint32{
	"few":    gaps(5, func(i int) uint32 { return uint32(1 + i*31) }),
	"spread": gaps(300, func(i int) uint32 { return 1 + uint32(i*7)%13 }),
	"jumps": gaps(260, func(i int) uint32 {
		if i%50 == 17 {
			return 1900
		}
		return 1 + uint32(i%3)
	}),
	"dense": gaps(1300, func(i int) uint32 { return 1 + uint32(i&1) }),
	"tiles": gaps(1030, func(i int) uint32 { return 1 + uint32(i*5)%4 }),
}

// queries name lists, shorter ones first: the first one leads, the others are probed.
// In the codecs that run gives them each codec leads one of the last six, or seven where
// there are as many codecs, and is probed by one.
var queries = [][]string{
	{"few"}, {"jumps"}, {"tiles"},
	{"few", "spread"}, {"jumps", "spread"}, {"jumps", "dense"}, {"tiles", "dense"},
	{"few", "jumps", "spread", "tiles", "dense"},
}

func TestKernels(t *testing.T) {
	devices, err := cl.Devices(os.Getenv("HEDDLE_TEST_DEVICE"))
	if err != nil || len(devices) == 0 {
		t.Fatalf("no device named %q: %v", os.Getenv("HEDDLE_TEST_DEVICE"), err)
	}
	for _, serial := range []bool{false, true} {
		for _, count := range []bool{false, true} {
			tuning := devices[0].Tuning()
			tuning.Serial, tuning.NVShuffle = serial, false
			tuning.LookBack = !serial && !count
			tuning.ScanWG, tuning.ScanChunk, tuning.MergeWG, tuning.MergeRows = 32, 2, 32, 4
			tuning.TableTile, tuning.TableWG, tuning.TableRow = 256, 32, map[bool]int{false: 64, true: 8}[serial]
			tuning.RankRange, tuning.RankWG, tuning.SelectWG, tuning.SelectWide = 1024, 32, 64, 256
			tuning.GroupLocal = 1024
			tuning.RoundTiles, tuning.Slots = 64, 1 // Oclgrind's search for races goes through all memory after each launch
			t.Run(fmt.Sprintf("serial=%v,count loads=%v", serial, count), func(t *testing.T) {
				// Each part has a context of its own: Oclgrind 21.10 keeps its state of a
				// buffer's words after the release of the buffer and applies it to the next
				// buffer in its place. Words behind the old end then count as never written.
				memory := uint64(0)
				part := func(f func(*cl.Backend)) {
					backend, err := cl.Open(t.Context(), devices[0], cl.Options{
						Tuning: &tuning, CountLoads: count, Profiling: true, SkipSelfTest: true, MemoryLimit: memory})
					if err != nil {
						t.Fatal(err)
					}
					defer backend.Close()
					f(backend)
				}
				algorithms := []plan.Algorithm{plan.BS, plan.IS, plan.LR, plan.LRSeg, plan.HS16, plan.PMF0, plan.PMF3, plan.Bits, plan.Auto}
				if count {
					algorithms = []plan.Algorithm{plan.HS16}
				}
				part(func(b *cl.Backend) { run(t, b, lineGroup, algorithms) })
				part(func(b *cl.Backend) { run(t, b, patchedGroup, []plan.Algorithm{plan.LRSplit}) })
				if !count {
					part(func(b *cl.Backend) { run(t, b, gapGroup, []plan.Algorithm{plan.HS16}) })
				}
				if !count {
					part(func(b *cl.Backend) { decodes(t, b) })
				}
				part(func(b *cl.Backend) { merges(t, b) })
				part(func(b *cl.Backend) { primitives(t, b) })
				tuning.LookBack = false // scans of primitives look back, and a test of that takes long
				for _, word := range []int{32, 64} {
					part(func(b *cl.Backend) { tables(t, b, word, count) })
				}
				if !count { // loads of ranking are not counted in kernels
					memory = rankMemory
					part(func(b *cl.Backend) { ranks(t, b, []codec.ID{codec.Raw, codec.ParaPFor}) })
					part(func(b *cl.Backend) { filters(t, b) })
					part(func(b *cl.Backend) { phrases(t, b) })
				}
			})
		}
	}
}

// The codecs of two stores: rounds with lists of coded gaps have a kernel of their
// own.
var (
	lineGroup = append([]codec.ID{codec.Raw, codec.Bitset}, withLayout(codec.LineLayout)...)
	gapGroup  = append([]codec.ID{codec.Raw}, withLayout(codec.GapLayout)...)
	// Lists of lines and exceptions have a kernel of their own too.
	patchedGroup = []codec.ID{codec.Raw, codec.LRCPFor}
)

// withLayout returns the codecs of a layout with kernels. HSLRC128 is left out, because
// HSLRC256 has the same kernels and the cases are few, and LRCPFor, which has a store of its own.
func withLayout(layout codec.Layout) []codec.ID {
	return slices.DeleteFunc(codec.IDs(), func(id codec.ID) bool {
		return id.Layout() != layout || id.Device() == codec.DeviceNone || id == codec.HSLRC128 || id == codec.LRCPFor
	})
}

func run(t *testing.T, backend plan.Backend, codecs []codec.ID, algorithms []plan.Algorithm) {
	src := &plan.Source{Docs: universe}
	handles := map[string][]plan.Handle{} // handle of a list, by codec
	// In the same order in every run.
	for _, name := range all {
		for _, id := range codecs {
			h, err := src.Append(id, lists[name], codec.DefaultOptions())
			if err != nil {
				t.Fatal(err)
			}
			handles[name] = append(handles[name], h)
		}
	}
	store, err := backend.Load(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	rounds := 1
	if codecs[1] == codec.Bitset {
		rounds = 2
	}
	expressions(t, store, src, handles, rounds)
	for i, a := range algorithms {
		leads, probed, longest := map[codec.ID]bool{}, map[codec.ID]bool{}, 0
		for _, countOnly := range []bool{false, true} {
			once := i%2 == 1
			if countOnly && once {
				continue // the kernels differ in their last loop alone
			}
			batch := plan.MatchBatch{Algorithm: a, CountOnly: countOnly, Part: i%3 == 0}
			asked := func(q int) bool {
				if once {
					return q >= 2 // the last six
				}
				// Half of them each time, and all of them once where there is one algorithm.
				return ((q+i/2)%2 == 1) == countOnly || len(algorithms) == 1 && !countOnly
			}
			for q, names := range queries {
				if !asked(q) {
					batch.Add(src)
					continue
				}
				var hs []plan.Handle
				for j, name := range names {
					hs = append(hs, handles[name][(q+i+j)%len(handles[name])])
				}
				batch.Add(src, hs...)
				for j, h := range batch.Query(q) {
					if id := src.Lists[h].Codec; j == 0 {
						leads[id] = true
					} else {
						probed[id] = true
					}
				}
				longest = max(longest, len(batch.Query(q)))
			}
			batch.Add(src) // an unknown term
			var got plan.Results
			if err := store.Match(t.Context(), &batch, &got); err != nil {
				t.Fatal(err)
			}
			for q, names := range queries {
				if !asked(q) {
					continue
				}
				want := lists[names[0]]
				for _, name := range names[1:] {
					want = slices.DeleteFunc(slices.Clone(want), func(d uint32) bool {
						_, ok := slices.BinarySearch(lists[name], d)
						return !ok
					})
				}
				if got.Count(q) != uint64(len(want)) {
					t.Errorf("%s, count only %v, %v: %d documents, want %d", a, countOnly, names, got.Count(q), len(want))
				} else if !countOnly && !slices.Equal(got.Query(q), want) {
					t.Errorf("%s, %v: %v, want %v", a, names, got.Query(q), want)
				}
			}
			// The device's own clock shows that each kernel really ran.
			if st := got.Stats; st.Decode <= 0 || st.Probe <= 0 || !countOnly && !batch.Part && st.Compact <= 0 {
				t.Errorf("%s, count only %v: a kernel took no time: %+v", a, countOnly, st)
			}
			if got.Count(len(queries)) != 0 {
				t.Errorf("%s: the query without lists matched", a)
			}
		}
		if len(leads) != len(codecs) || len(probed) != len(codecs) || longest != len(all) {
			t.Errorf("%s: of %v only %v lead and %v are probed, in queries of up to %d lists", a, codecs, leads, probed, longest)
		}
	}
}
