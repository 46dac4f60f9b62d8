package bitslice

import (
	"math/rand/v2"
	"testing"
)

// TestLanes compares lanes with decoded codes, at every width, and bounds with the greatest code.
func TestLanes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for width := range 19 {
		greatest := uint64(0)
		codes := fill(TileRows, func(int) uint64 {
			code := 1000 + r.Uint64N(1<<width)
			greatest = max(greatest, code)
			return code
		})
		codes[7], codes[9] = 1000, 999+1<<width
		greatest = codes[9]
		c := column(codes, nil)
		var to Lanes
		if got := c.Lanes(0, greatest, &to); got != (width <= 16) {
			t.Fatalf("width %d: %v", width, got)
		} else if !got {
			continue
		}
		for row, code := range codes {
			if got := 1000 + to[row/64*16+row%16]>>(row%64/16*16)&0xffff; got != code {
				t.Fatalf("width %d, row %d: code %d, want %d", width, row, got, code)
			}
		}
		if c.Lanes(0, greatest-1, &to) || !c.Lanes(0, greatest+1, &to) || c.Lanes(0, 999, &to) {
			t.Errorf("width %d: %d, %d or %d does not bound codes from 1000 to %d", width, greatest-1, greatest+1, 999, greatest)
		}
	}
}

// TestLanesBehind: a bound holds for the codes behind the last row, which readers take for indexes.
func TestLanesBehind(t *testing.T) {
	for width := 5; width <= 16; width++ {
		last := uint64(1)<<width - 10
		c := column(fill(100, func(i int) uint64 { return uint64(i) * last / 99 }), nil)
		tile, to := &c.Tiles[0], Lanes{}
		if !c.Lanes(0, last, &to) {
			t.Fatalf("width %d: a code above the last one", width)
		}
		words := c.words(tile)
		for i := range tile.slices() {
			f, at := tile.entry(words, i)
			if f != plain {
				t.Fatalf("width %d: slice %d is %d, want plain", width, i, f)
			}
			words[at+3] |= 0xfffffff0 // rows 100 to 127
		}
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		if c.Lanes(0, last, &to) {
			t.Errorf("width %d: no code above the last one", width)
		}
	}
}
