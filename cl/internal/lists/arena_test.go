package lists

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/cl/internal/device/devicetest"
	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/testneeds"
)

// checkLayout checks the conditions of the kernels: every list lies in one range, behind
// which there is room for a pad, and its place says where.
func checkLayout(t *testing.T, src *plan.Source, maxAlloc uint64, ranges []wordRange, places []Place) {
	t.Helper()
	if len(ranges) > MaxArenas || len(places) != len(src.Lists) {
		t.Fatalf("%d ranges, %d places for %d lists", len(ranges), len(places), len(src.Lists))
	}
	for i, r := range ranges {
		if r.from > r.to || 4*(r.to-r.from+plan.ListAlign) > maxAlloc || r.from%plan.ListAlign != 0 {
			t.Errorf("range %d is %+v, buffers have %d bytes", i, r, maxAlloc)
		}
	}
	for h, l := range src.Lists {
		p := places[h]
		if int(p.Buffer) >= len(ranges) {
			t.Fatalf("list %d lies in buffer %d of %d", h, p.Buffer, len(ranges))
		}
		r := ranges[p.Buffer]
		if from := r.from + 4*uint64(p.Off); from != l.Off || from+uint64(l.Words) > r.to {
			t.Errorf("list %d of words %d to %d lies at %d in %+v", h, l.Off, l.Off+uint64(l.Words), from, r)
		}
	}
}

// TestLayout cuts sources of known sizes.
func TestLayout(t *testing.T) {
	testneeds.OneCaller(t)
	const k = 1 << 10
	for name, c := range map[string]struct {
		src      *plan.Source
		maxAlloc uint64
		ranges   int // 0: an error
	}{
		"no lists":               {devicetest.ListsOf(), k, 0},
		"an empty list":          {devicetest.ListsOf(0), k, 1},
		"one list":               {devicetest.ListsOf(10), k, 1},
		"a list fills a buffer":  {devicetest.ListsOf(k/4 - 4), k, 1},
		"a list does not fit":    {devicetest.ListsOf(k/4 - 3), k, 0},
		"the last does not fit":  {devicetest.ListsOf(1, 2, k/4-3), k, 0},
		"two buffers":            {devicetest.ListsOf(200, 200), k, 2},
		"just one buffer":        {devicetest.ListsOf(124, 128), k, 1},
		"one word too many":      {devicetest.ListsOf(124, 129), k, 2},
		"four buffers":           {devicetest.ListsOf(252, 252, 252, 252), k, 4},
		"five buffers":           {devicetest.ListsOf(252, 252, 252, 252, 1), k, 0},
		"many lists":             {devicetest.ListsOf(slices.Repeat([]uint32{3, 0, 7, 1}, 40)...), k, 3},
		"more than 32 bits":      {devicetest.ListsOf(1<<31, 1<<31, 1<<31, 1<<31), 1 << 40, 1},
		"lists of 16 GiB":        {devicetest.ListsOf(1<<32-4, 1<<32-4, 1<<32-4, 1<<32-4, 1<<32-4), 1 << 40, 2},
		"empty lists at the end": {devicetest.ListsOf(252, 252, 252, 252, 0, 0), k, 4},
	} {
		t.Run(name, func(t *testing.T) {
			ranges, places, err := Layout(c.src, c.maxAlloc, MaxArenas)
			if name == "no lists" {
				if err != nil || len(ranges) != 0 || len(places) != 0 {
					t.Errorf("%v, %v, %v", ranges, places, err)
				}
				return
			}
			if c.ranges == 0 {
				if err == nil {
					t.Errorf("%d lists in buffers of %d bytes: %v", len(c.src.Lists), c.maxAlloc, ranges)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(ranges) != c.ranges {
				t.Errorf("%d ranges, want %d: %v", len(ranges), c.ranges, ranges)
			}
			checkLayout(t, c.src, c.maxAlloc, ranges, places)
		})
	}
}

// TestLayoutOrder has lists that do not stand in the order of their handles, lie
// apart, or share words.
func TestLayoutOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		src := &plan.Source{Docs: 1 << 20}
		off := uint64(r.IntN(50)) * plan.ListAlign
		for range 1 + r.IntN(60) {
			l := plan.List{Off: off, Words: r.Uint32N(200), Codec: codec.Raw}
			l.Len = l.Words
			src.Lists = append(src.Lists, l)
			switch r.IntN(4) {
			case 0: // the next one begins inside this one
			case 1:
				off += uint64(r.IntN(100)) * plan.ListAlign
				fallthrough
			default:
				off += (uint64(l.Words) + 3) / 4 * 4
			}
		}
		if i%2 == 0 {
			r.Shuffle(len(src.Lists), func(i, j int) { src.Lists[i], src.Lists[j] = src.Lists[j], src.Lists[i] })
		}
		before := slices.Clone(src.Lists)
		maxAlloc := uint64(4 * (204 + r.IntN(8000)))
		ranges, places, err := Layout(src, maxAlloc, MaxArenas)
		if !slices.Equal(before, src.Lists) {
			t.Fatal("the source was changed")
		}
		if err == nil {
			checkLayout(t, src, maxAlloc, ranges, places)
		} else if last := slices.MaxFunc(src.Lists, func(a, b plan.List) int { return int(a.Off+uint64(a.Words)) - int(b.Off+uint64(b.Words)) }); 4*(last.Off+uint64(last.Words))+16 <= maxAlloc {
			t.Errorf("%d words do not fit one buffer of %d bytes: %v", last.Off+uint64(last.Words), maxAlloc, err)
		}
	}
}

// TestRecord writes lists with and without tables.
func TestRecord(t *testing.T) {
	testneeds.OneCaller(t)
	src := devicetest.ListsOf(100, 200)
	_, places, err := Layout(src, 1<<34, MaxArenas)
	if err != nil {
		t.Fatal(err)
	}
	s := &Set{Src: src, Places: places}
	refs := []tableRef{{}, {off: 7, entries: 33, probe: ProbeHS, shift: 12}}
	want := Record{25, 200, 200, uint32(codec.Raw) | ProbeHS<<16 | 12<<24, 7, 33}
	if got := s.Records(refs)[1]; got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := s.Records(nil)[1], (Record{25, 200, 200, uint32(codec.Raw)}); got != want {
		t.Errorf("without tables: %v, want %v", got, want)
	}
}

// TestTablesBeyondReach has lists whose tables together are more than kernels can
// address: that is a want of memory, which makes Auto take another algorithm.
func TestTablesBeyondReach(t *testing.T) {
	const length = 1 << 26 // more than one docID in plan.DenseRatio
	words := make([]uint32, 3*length/codec.SegmentLen)
	words[length/codec.SegmentLen-1] = math.MaxUint32 - 1 // the greatest docID
	src := &plan.Source{Docs: math.MaxUint32, Words: words}
	for range 33 { // tables of 512 MiB
		src.Lists = append(src.Lists, plan.List{Words: uint32(len(words)), Len: length, Codec: codec.ParaPFor})
	}
	if _, _, err := planTables(plan.Bits, src); !errors.Is(err, plan.ErrOutOfMemory) {
		t.Errorf("33 tables of 512 MiB: %v", err)
	}
	src.Lists = src.Lists[:31]
	if refs, n, err := planTables(plan.Bits, src); err != nil || n != 31<<27 || refs[30].off != 30<<27 {
		t.Errorf("31 tables of 512 MiB: %d words, %v", n, err)
	}
}
