package listcache

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// check fails t if the cache is inconsistent: blocks that do not partition their buffers, free
// neighbours, wrong sums, classes or heaps.
func (c *Cache) check() error {
	free, seen := uint64(0), map[int32]bool{}
	for b, at := range c.space.first {
		end, before := uint32(0), int32(none)
		for ; at != none; before, at = at, c.space.blocks[at].behind {
			x := c.space.blocks[at]
			switch {
			case x.buffer != uint32(b) || x.off != end || x.before != before:
				return fmt.Errorf("block %+v behind %d, which ends at %d of buffer %d", x, before, end, b)
			case x.item == none && before != none && c.space.blocks[before].item == none:
				return fmt.Errorf("free neighbours at %d of buffer %d", end, b)
			case x.item != none && (c.block[x.item] != at || x.units != c.units[x.item]):
				return fmt.Errorf("block %+v of item %d, which has %d units in block %d", x, x.item, c.units[x.item], c.block[x.item])
			case x.item == none:
				free += uint64(x.units)
			}
			seen[at] = true
			end += x.units
		}
		if end != c.space.buffers[b] {
			return fmt.Errorf("buffer %d of %d units has blocks of %d", b, c.space.buffers[b], end)
		}
	}
	if free != c.space.free {
		return fmt.Errorf("%d units are free, the space says %d", free, c.space.free)
	}
	for class, at := range c.space.classes {
		if has := c.space.filled[class/64]>>(class%64)&1 != 0; has != (at != none) {
			return fmt.Errorf("class %d: filled %t, first block %d", class, has, at)
		}
		for ; at != none; at = c.space.blocks[at].next {
			x := c.space.blocks[at]
			if !seen[at] || x.item != none || classOf(x.units) != class {
				return fmt.Errorf("block %+v in class %d", x, class)
			}
			free -= uint64(x.units)
		}
	}
	if free != 0 {
		return fmt.Errorf("%d free units are in no class", free)
	}
	pinned, holders, lists := uint64(0), 0, 0
	for i := range c.units {
		if c.pins[i] > 0 {
			holders++
			pinned += uint64(c.units[i])
		}
		if is := c.block[i] != none && !c.gone[i]; is != c.Resident(uint32(i)) && c.units[i] > 0 {
			return fmt.Errorf("item %d in block %d: resident %t", i, c.block[i], c.Resident(uint32(i)))
		} else if is {
			lists += c.one(uint32(i))
		}
		if c.at[i] != none && c.block[i] == none || c.at[i] == none && c.block[i] != none && c.pins[i] == 0 {
			return fmt.Errorf("item %d in block %d with %d pins is at %d of its heap", i, c.block[i], c.pins[i], c.at[i])
		}
	}
	if pinned != c.pinned || holders != c.holders || lists != c.stats.Lists {
		return fmt.Errorf("%d units of %d items are pinned, %d lists resident; counted are %d, %d, %d", pinned, holders, lists, c.pinned, c.holders, c.stats.Lists)
	}
	for class, h := range c.heaps {
		for i, item := range h {
			if int(c.at[item]) != i || sizeClass(c.units[item]) != class || i > 0 && c.below(item, h[(i-1)/2]) {
				return fmt.Errorf("item %d at %d of heap %d", item, i, class)
			}
		}
	}
	return nil
}

// sizesOf draws item sizes in words: mostly short items, some that fill a buffer, some empty
// ones.
func sizesOf(t *rapid.T, buffers []uint64) []uint32 {
	most := min(slices.Max(buffers), math.MaxUint32-8)
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) uint32 {
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0:
			return 0
		case 1:
			return uint32(rapid.Uint64Range(most/2, most+8).Draw(t, "long"))
		}
		return uint32(rapid.Uint64Range(1, most/4+2).Draw(t, "words"))
	}), 1, 60).Draw(t, "sizes")
}

// TestModel pins and unpins random batches in random order, and compares with a plain model: a
// map of resident items to positions, and a list of pins.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := uint64(4000) << rapid.SampledFrom([]int{0, 0, 0, 10, 22}).Draw(t, "scale") // up to 64 GiB
		buffers := rapid.SliceOfN(rapid.Uint64Range(most/1000, most), 1, 4).Draw(t, "buffers")
		words := sizesOf(t, buffers)
		c := New(words, len(words)/2, buffers)
		type place struct{ buffer, off uint32 }
		type batch struct {
			uses  []Use
			at    map[uint32]place
			fresh []uint32
		}
		var held []batch
		hits, misses, in := uint64(0), uint64(0), uint64(0)
		for step := range rapid.IntRange(1, 80).Draw(t, "steps") {
			if len(held) > 0 && rapid.Bool().Draw(t, "unpin") {
				i := rapid.IntRange(0, len(held)-1).Draw(t, "which")
				b := held[i]
				for item, p := range b.at {
					if buffer, off := c.Place(item); (place{buffer, off}) != p {
						t.Fatalf("step %d: pinned item %d went from %v to %d, %d", step, item, p, buffer, off)
					}
				}
				if rapid.IntRange(0, 3).Draw(t, "drop") == 0 {
					c.Drop(b.fresh)
				}
				c.Unpin(b.uses)
				held = slices.Delete(held, i, i+1)
			} else {
				var b batch
				for _, item := range rapid.SliceOfNDistinct(rapid.Uint32Range(0, uint32(len(words)-1)), 1, 12, rapid.ID[uint32]).Draw(t, "items") {
					b.uses = append(b.uses, Use{item, rapid.Uint32Range(1, 3).Draw(t, "queries")})
				}
				fits, missing := c.Fits(b.uses), map[uint32]bool{}
				for _, u := range b.uses {
					missing[u.Item] = !c.Resident(u.Item)
				}
				var ok bool
				b.fresh, ok = c.Pin(b.uses, nil)
				if len(held) == 0 && ok != fits {
					t.Fatalf("step %d: nothing is pinned, %v fits: %t, pinned: %t", step, b.uses, fits, ok)
				}
				if ok {
					b.at = map[uint32]place{}
					for _, u := range b.uses {
						buffer, off := c.Place(u.Item)
						b.at[u.Item] = place{buffer, off}
						if uint64(off)*Align+uint64(words[u.Item]) > buffers[buffer] || !c.Resident(u.Item) {
							t.Fatalf("step %d: item %d of %d words at %d of buffer %d, resident %t", step, u.Item, words[u.Item], uint64(off)*Align, buffer, c.Resident(u.Item))
						}
						hits += uint64(u.Queries)
						if missing[u.Item] && !slices.Contains(b.fresh, u.Item) {
							t.Fatalf("step %d: item %d was not resident, and is not to be brought in", step, u.Item)
						}
					}
					for _, item := range b.fresh {
						in += c.Bytes(item)
						misses++
						hits--
					}
					held = append(held, b)
				} else if len(b.fresh) > 0 {
					t.Fatalf("step %d: %d items to bring in, nothing is pinned", step, len(b.fresh))
				}
			}
			if err := c.check(); err != nil {
				t.Fatalf("step %d: %v", step, err)
			}
			for _, b := range held { // check has shown that no two pinned items overlap
				for item, p := range b.at {
					if buffer, off := c.Place(item); (place{buffer, off}) != p {
						t.Fatalf("step %d: pinned item %d went from %v to %d, %d", step, item, p, buffer, off)
					}
				}
			}
		}
		if s := c.Stats(); s.Hits != hits || s.Misses != misses || s.BytesIn != in || s.Used > s.Capacity {
			t.Fatalf("%+v; counted: %d hits, %d misses, %d bytes in", s, hits, misses, in)
		}
	})
}

// TestWhole pins items that fill fragmented memory to the last word.
func TestWhole(t *testing.T) {
	for _, buffers := range [][]uint64{{400}, {100, 300}, {100, 100, 100, 100}} {
		words := []uint32{100, 99, 98, 97}
		for range 100 {
			words = append(words, 4)
		}
		c := New(words, len(words), buffers)
		r := rand.New(rand.NewPCG(1, 2))
		for range 200 {
			short := []Use{{4 + r.Uint32N(100), 1}}
			if _, ok := c.Pin(short, nil); !ok {
				t.Fatal("4 words do not fit")
			}
			whole := []Use{{0, 1}, {1, 1}, {2, 1}, {3, 1}}
			if _, ok := c.Pin(whole, nil); ok {
				t.Fatal("400 words fit beside 4 that are pinned")
			}
			c.Unpin(short)
			if _, ok := c.Pin(whole, nil); !ok {
				t.Fatalf("400 words do not fit %v", buffers)
			}
			c.Unpin(whole)
			if err := c.check(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestDropped drops an item that another batch waits for: its memory is free after the last
// Unpin, and only then can it be pinned again.
func TestDropped(t *testing.T) {
	c := New([]uint32{40, 40, 40}, 3, []uint64{100})
	a := []Use{{0, 1}, {1, 1}}
	fresh, _ := c.Pin(a, nil)
	if _, ok := c.Pin(a[:1], nil); !ok {
		t.Fatal("a resident item cannot be pinned again")
	}
	c.Drop(fresh)
	c.Unpin(a)
	if c.Resident(0) || c.Resident(1) || c.Stats().Used != 160 || c.Stats().Lists != 0 {
		t.Errorf("dropped items: %+v", c.Stats())
	}
	if _, ok := c.Pin(a[:1], nil); ok {
		t.Error("an item was pinned that is gone and still has pins")
	}
	c.Unpin(a[:1])
	if c.Stats().Used != 0 {
		t.Errorf("nothing is resident: %+v", c.Stats())
	}
	if fresh, ok := c.Pin(a, nil); !ok || len(fresh) != 2 {
		t.Errorf("again: %v, %t", fresh, ok)
	}
}

// TestLongHistory: the order of values stays when the weights of uses exceed the range of
// floats many times.
func TestLongHistory(t *testing.T) {
	c := New([]uint32{40, 40, 40}, 3, []uint64{80})
	c.growth = 0x1p100
	for i := range uint32(1000) {
		u := []Use{{i % 3, 1}}
		if _, ok := c.Pin(u, nil); !ok {
			t.Fatal("one item does not fit")
		}
		c.Unpin(u)
		if !c.Resident(i%3) || i > 0 && !c.Resident((i-1)%3) {
			t.Fatalf("use %d: the last two items are not resident", i)
		}
		if err := c.check(); err != nil {
			t.Fatal(err)
		}
	}
}
