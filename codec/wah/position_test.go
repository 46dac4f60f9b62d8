package wah

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestOrInto(t *testing.T) { both(t, testOrInto[uint32], testOrInto[uint64]) }

// Consecutive pieces of any length agree with the bitset.
func testOrInto[W Word](t *testing.T) {
	every(t, func(t *testing.T, rows uint64, set []uint64, words []W) {
		groups := int(Groups[W](rows))
		plain := make([]W, groups)
		for g := range plain {
			plain[g] = group[W](set, rows, uint64(g))
		}
		r := rand.New(rand.NewPCG(1, rows))
		for _, piece := range []int{1, 7, tile, groups + 3} {
			acc, want := make([]W, groups), slices.Clone(plain)
			p := Position{}
			for at := 0; at < groups; {
				n := min(1+r.IntN(piece), groups-at)
				keep := W(r.Uint64()) & Ones[W]()
				for i := range n {
					acc[at+i], want[at+i] = keep, want[at+i]|keep
				}
				if f, ok := Fill(words, p, uint64(n)); ok && slices.ContainsFunc(want[at:at+n], func(w W) bool { return w != f|keep }) {
					t.Fatalf("%d rows: a fill of %x at group %d", rows, f, at)
				}
				p = OrInto(acc[at:at+n], words, p)
				at += n
			}
			if !slices.Equal(acc, want) {
				t.Fatalf("%d rows in pieces of %d: %x, want %x", rows, piece, acc, want)
			}
			if p != (Position{Word: len(words)}) || OrInto(acc[:min(groups, 1)], words, p) != p {
				t.Fatalf("%d rows: ends at %v of %d words", rows, p, len(words))
			}
		}
	})
}

// positionOf returns the position of a group.
func positionOf[W Word](words []W, group uint64) Position {
	for k, w := range words {
		n := rowsOf(w) / GroupBits[W]()
		if group < n {
			return Position{k, group}
		}
		group -= n
	}
	return Position{Word: len(words)}
}

func TestPosition(t *testing.T) { both(t, testPosition[uint32], testPosition[uint64]) }

// Reads from any position agree with the bitset.
func testPosition[W Word](t *testing.T) {
	every(t, func(t *testing.T, rows uint64, set []uint64, words []W) {
		groups := Groups[W](rows)
		for first := uint64(0); first < groups; first += 7 {
			acc := make([]W, min(tile, groups-first))
			p := OrInto(acc, words, positionOf(words, first))
			if want := positionOf(words, first+uint64(len(acc))); p != want {
				t.Fatalf("%d rows: %d groups behind %d is %v, want %v", rows, len(acc), first, p, want)
			}
			if at := positionOf(words, first); IsFill(words[at.Word]) {
				want, n := FillOf(words[at.Word])
				got, whole := Fill(words, at, n-at.Used)
				if _, more := Fill(words, at, n-at.Used+1); got != want || !whole || more {
					t.Fatalf("%d rows: the rest of the fill at %v: %x, %v, one group more: %v", rows, at, got, whole, more)
				}
			}
			for g, have := range acc {
				if want := group[W](set, rows, first+uint64(g)); have != want {
					t.Fatalf("%d rows: group %d behind %d is %x, want %x", rows, g, first, have, want)
				}
			}
		}
	})
}

func TestPutGroups(t *testing.T) { both(t, testPutGroups[uint32], testPutGroups[uint64]) }

func testPutGroups[W Word](t *testing.T) {
	every(t, func(t *testing.T, rows uint64, set []uint64, words []W) {
		acc := make([]W, Groups[W](rows))
		OrInto(acc, words, Position{})
		got := make([]uint64, len(set))
		for i := range got {
			got[i] = 0xdead
		}
		for at := 0; at < len(acc); at += tile { // a tile begins a word
			PutGroups(got[at*int(GroupBits[W]())/64:], acc[at:min(at+tile, len(acc))])
		}
		if !slices.Equal(got, set) {
			t.Fatalf("%d rows: %x, want %x", rows, got, set)
		}
	})
}
