package bitmap

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/codec"
	"heddle/codec/wah"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
)

// TestDirectory looks every group of vectors of each kind up by the directory, as the
// kernels do, and compares with a walk over their words.
func TestDirectory(t *testing.T) {
	for _, word := range []int{32, 64} {
		for _, tile := range []int{128, 512} {
			for _, groups := range []int{0, 1, 2, tile - 1, tile, tile + 1, 5*tile + 40} {
				for _, less := range []int{0, 1, 20} { // rows of the last group that are not there
					rows := max(groups*(word-1)-less, 0)
					t.Run(fmt.Sprintf("wah%d/tile=%d/rows=%d", word, tile, rows), func(t *testing.T) {
						if word == 64 {
							testDirectory(t, &plan.Table{Rows: uint32(rows), Words64: []uint64{}}, tile, func(t *plan.Table, v uint32) []uint64 { return t.Vector64(v) })
						} else {
							testDirectory(t, &plan.Table{Rows: uint32(rows), Words32: []uint32{}}, tile, func(t *plan.Table, v uint32) []uint32 { return t.Vector32(v) })
						}
					})
				}
			}
		}
	}
}

func testDirectory[W wah.Word](t *testing.T, tab *plan.Table, tile int, words func(*plan.Table, uint32) []W) {
	r := rand.New(rand.NewPCG(1, 2))
	per := uint32(wah.GroupBits[W]())
	span := per * uint32(tile)
	for _, in := range []func(x uint32) bool{
		func(x uint32) bool { return false },
		func(x uint32) bool { return true },
		func(x uint32) bool { return r.IntN(2) == 0 }, // dense
		func(x uint32) bool { return r.IntN(12) == 0 },
		func(x uint32) bool { return r.IntN(400) == 0 },
		func(x uint32) bool { return r.IntN(5000) == 0 },
		func(x uint32) bool { return x/span == 2 },         // a fill of a tile
		func(x uint32) bool { return x > span+span/3 },     // one that begins inside and ends with the table
		func(x uint32) bool { return x/(3*per)%2 == 0 },    // fills of three groups
		func(x uint32) bool { return x == span || x == 0 }, // a literal as the first word
		func(x uint32) bool { return x%per == 1 },
	} {
		has := make([]bool, tab.Rows)
		for x := range has {
			has[x] = in(uint32(x))
		}
		appendVector(tab, has, int(per)+1)
	}
	d, err := newDirectory(tab, tile)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for v := range tab.Vectors {
		at := -1 // word of the group
		left := uint64(0)
		list := words(tab, uint32(v))
		for g := range int(tab.Groups()) {
			if left == 0 {
				at, left = at+1, 1
				if wah.IsFill(list[at]) {
					_, left = wah.FillOf(list[at])
				}
			}
			left--
			class, got := lookUp(d, len(tab.Vectors), v, g)
			seen[class] = true
			want := list[at]
			if wah.IsFill(want) {
				want, _ = wah.FillOf(want)
			}
			switch {
			case class == classZero && want != 0, class == classOne && want != wah.Ones[W]():
				t.Fatalf("vector %d: the tile of group %d is of class %d, the group is %x", v, g, class, want)
			case class > classOne && got != at:
				t.Fatalf("vector %d: group %d, of class %d, is said to be in word %d, is in %d", v, g, class, got, at)
			}
		}
	}
	if len(seen) < 5 && int(tab.Groups()) > 2*tile {
		t.Errorf("only classes %v", seen)
	}
}

// lookUp gives the class of a group's tile and the number of its word.
func lookUp(d *directory, vectors, v, g int) (class, word int) {
	e := d.coarse[2*(g/d.tile*vectors+v):]
	class, before := int(e[1]&7), int(e[0])
	fine := d.fine[4*(d.bases[v]+e[1]>>10):]
	half := func(words []uint32, i int) int { return int(words[i/2] >> (i % 2 * 16) & 0xffff) }
	g %= d.tile
	switch class {
	case classDense:
		return class, before + g
	case classMixed:
		upto := fine[g/32] & (1<<(g%32) | (1<<(g%32) - 1))
		return class, before + half(fine[d.tile/32:], g/32) + bits.OnesCount32(upto) - 1
	case classSparse:
		i := 0
		for i+1 < int(e[1]>>3&127) && half(fine, i+1) <= g {
			i++
		}
		return class, before + i
	}
	return class, 0
}

// TestDirectoryOfCorrupt has words that end before their vector does.
func TestDirectoryOfCorrupt(t *testing.T) {
	tab := &plan.Table{Rows: 1000, Words32: []uint32{1 << 31}, Vectors: []plan.Vector{{Words: 1}}}
	if _, err := newDirectory(tab, 128); !errors.Is(err, codec.ErrCorrupt) {
		t.Errorf("a fill of no groups: %v", err)
	}
}

// BenchmarkDirectory measures the walk over vectors of each kind of benchmark.
func BenchmarkDirectory(b *testing.B) {
	for _, data := range []string{"p=0.1", "zipf2", "runs"} {
		tab := benchTable(1<<20, 32, data)
		b.Run(data, func(b *testing.B) {
			for b.Loop() {
				if _, err := newDirectory(tab, 1024); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(len(tab.Words32)), "ns/word")
		})
	}
}

// appendVector appends the vector of some rows to t.
func appendVector(t *plan.Table, has []bool, word int) {
	if word == 64 {
		t.AppendVector64(vectorOf[uint64](has))
	} else {
		t.AppendVector32(vectorOf[uint32](has))
	}
}

func vectorOf[W wah.Word](has []bool) []W {
	var b wah.Builder[W]
	for r, in := range has {
		if in {
			b.Add(uint64(r))
		}
	}
	return b.AppendTo(nil, uint64(len(has)))
}

// TestOrder orders vectors by the size of their counts, then by number.
func TestOrder(t *testing.T) {
	for _, word := range []int{32, 64} {
		tab := plantest.NewTable(1000, word)
		for _, every := range []uint32{500, 1, 2, 400, 1000} { // 2, 1000, 500, 3 and 1 rows
			tab.AddVector(plantest.NewFilter(1000, func(row uint32) bool { return row%every == 0 }))
		}
		d, err := newDirectory(&tab.Table, 128)
		if err != nil {
			t.Fatal(err)
		}
		if want := []uint32{1, 2, 0, 3, 4}; !slices.Equal(d.order, want) || !slices.Equal(d.ranks, []uint32{2, 0, 1, 3, 4}) {
			t.Errorf("words of %d bits: order %v, ranks %v, want order %v", word, d.order, d.ranks, want)
		}
	}
}
