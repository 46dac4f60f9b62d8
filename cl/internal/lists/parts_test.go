package lists

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/cl/internal/device"
	"heddle/engine/plan"
	"heddle/engine/plan/listcache"
)

// partsCache is a cache without a device, of lists with as many words of frequencies, in buffers of so many words.
func partsCache(words []uint32, buffers ...uint64) *Cache {
	src := &plan.Source{Freqs: []uint32{}}
	for _, n := range words {
		src.Lists = append(src.Lists, plan.List{Words: n, Len: n, FreqWords: n})
	}
	n := len(words)
	c := &Cache{set: &Set{Src: src, Device: &device.Runtime{}, Places: make([]Place, n), Closing: make(chan struct{})},
		Items: listcache.New(ItemWords(src), n, buffers), lists: uint32(n), Coming: map[uint32]*upload{}, Freqs: make([]Place, n),
		turn: make(chan struct{}, 1), freed: make(chan struct{}, 1)}
	c.cutters.New = func() any { return &partCutter{cache: c, seen: make([]uint32, 2*n)} }
	c.turn <- struct{}{}
	return c
}

// request asks for the lists of some queries.
func request(queries [][]plan.Handle, ranked bool) *Request {
	return &Request{Noun: "query", Queries: len(queries), Ranked: ranked,
		Lists: func(to []plan.Handle, i int) []plan.Handle { return append(to, queries[i]...) }}
}

// itemsOf counts the queries that use each item.
func itemsOf(c *Cache, queries [][]plan.Handle, ranked bool) (uses map[uint32]int, bytes uint64) {
	uses = map[uint32]int{}
	for _, q := range queries {
		for _, h := range q {
			uses[h]++
			if ranked {
				uses[c.lists+h]++
			}
		}
	}
	for item := range uses {
		bytes += c.Items.Bytes(item)
	}
	return uses, bytes
}

// TestParts cuts batches of random queries: parts have all queries in order and the items of these alone, and none has
// room for the next query.
func TestParts(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	for range 300 {
		words := make([]uint32, 8)
		for i := range words {
			words[i] = 4 * r.Uint32N(20)
		}
		c := partsCache(words, 400, 300)
		var queries [][]plan.Handle
		for range r.IntN(12) {
			var q []plan.Handle
			for range r.IntN(5) {
				q = append(q, r.Uint32N(uint32(len(words))))
			}
			queries = append(queries, q)
		}
		ranked, k := r.IntN(2) > 0, c.cutters.New().(*partCutter)
		parts, err := k.cut(request(queries, ranked))
		if err != nil {
			t.Fatal(err)
		}
		at, quarter := 0, c.Items.Capacity()/4
		for _, p := range parts {
			if p.first != at || p.end <= at {
				t.Fatalf("a part from %d to %d behind %d", p.first, p.end, at)
			}
			at = p.end
			want, bytes := itemsOf(c, queries[p.first:p.end], ranked)
			got := map[uint32]int{}
			for _, u := range p.uses {
				got[u.Item] += int(u.Queries)
			}
			if len(p.uses) != len(want) || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("queries %v: uses %v, want %v", queries[p.first:p.end], p.uses, want)
			}
			if bytes > quarter && p.end > p.first+1 {
				t.Fatalf("%d bytes of %d queries, a quarter has %d", bytes, p.end-p.first, quarter)
			}
			if at < len(queries) && bytes <= quarter {
				if _, more := itemsOf(c, queries[p.first:at+1], ranked); more <= quarter {
					t.Fatalf("query %d fits the part before it", at)
				}
			}
		}
		if at != len(queries) || slices.Max(k.seen) != 0 {
			t.Fatalf("%d of %d queries, items %v are left", at, len(queries), k.seen)
		}
	}
}

// TestMissing: lists and their frequencies that fit the cache together, in one buffer or only in several, and others.
func TestMissing(t *testing.T) {
	c := partsCache([]uint32{64, 64, 32, 192}, 128, 64)
	for _, x := range []struct {
		query  []plan.Handle
		ranked bool
		bytes  uint64
		fits   bool
	}{
		{nil, true, 0, true}, {[]plan.Handle{0}, false, 256, true}, {[]plan.Handle{0}, true, 512, true}, {[]plan.Handle{0, 1}, false, 512, true},
		{[]plan.Handle{0, 1}, true, 1024, false}, {[]plan.Handle{0, 2}, true, 768, true}, {[]plan.Handle{3}, false, 768, false},
	} {
		if bytes, ok := c.Missing(x.query, x.ranked); bytes != x.bytes || ok != x.fits {
			t.Errorf("query %v, ranked %t: %d bytes, fits %t, want %d, %t", x.query, x.ranked, bytes, ok, x.bytes, x.fits)
		}
		_, err := c.cutters.New().(*partCutter).cut(request([][]plan.Handle{x.query}, x.ranked))
		if (err == nil) != x.fits || err != nil && !errors.Is(err, plan.ErrTooLarge) {
			t.Errorf("query %v, ranked %t: %v", x.query, x.ranked, err)
		}
	}
	p := &Pins{cache: c, uses: []listcache.Use{{Item: 0, Queries: 1}}, refs: 1}
	if !c.pinAll(p, nil) {
		t.Fatal("no room")
	}
	if bytes, ok := c.Missing([]plan.Handle{0, 2}, true); bytes != 512 || !ok {
		t.Errorf("%d bytes beside a resident list, fits %t", bytes, ok)
	}
}

// TestEach answers parts whose lists are all resident: an error ends the batch, and gives the pins of the next part back.
func TestEach(t *testing.T) {
	queries := [][]plan.Handle{{0}, {1}, {2}}
	broken := errors.New("broken")
	for bad := range len(queries) + 1 {
		c := partsCache([]uint32{64, 64, 64}, 192)
		uses := []listcache.Use{{Item: 0}, {Item: 1}, {Item: 2}}
		p := &Pins{cache: c, uses: uses, refs: 1}
		if !c.pinAll(p, nil) {
			t.Fatal("no room")
		}
		clear(c.Coming) // they have arrived
		p.refs = 1
		p.Release()
		var answered []int
		err := c.Each(t.Context(), *request(queries, false), &plan.Stats{}, func(_ context.Context, first, end int, p *Pins) error {
			if end != first+1 || p.uses[0].Item != uint32(first) {
				t.Errorf("queries %d to %d with %v", first, end, p.uses)
			}
			if answered = append(answered, first); first == bad {
				return broken
			}
			return nil
		})
		if len(answered) != min(bad+1, len(queries)) || (err != nil) != (bad < len(queries)) || err != nil && !errors.Is(err, broken) {
			t.Errorf("query %d is bad: answered %v, %v", bad, answered, err)
		}
		if !c.Idle() {
			t.Errorf("query %d is bad: %d items stay pinned", bad, c.Items.Pinned())
		}
	}
}

// TestCacheBuffers divides lists among as few buffers as possible, and leaves the last one to filters.
func TestCacheBuffers(t *testing.T) {
	const end, most = 4 * plan.ListAlign, 1<<20 - 4*plan.ListAlign // of lists in a buffer
	rt := &device.Runtime{Info: plan.Info{MaxAlloc: 1<<20 + end - 1}}
	for _, bytes := range []uint64{0, end, most - end, most, most + end, 2 * most, 2*most + end, 3*most - end, 3 * most, 3*most + end, 1 << 40} {
		sizes, room := CacheBuffers(rt, bytes), uint64(0)
		for _, n := range sizes {
			if room += n - end; n > 1<<20 || n%end != 0 || n != sizes[0] {
				t.Errorf("%d bytes: buffers of %v", bytes, sizes)
			}
		}
		if least := min(max((bytes+most-1)/most, 1), FilterArena); uint64(len(sizes)) != least || room < min(bytes, FilterArena*most) {
			t.Errorf("%d bytes: %d buffers with room for %d, want %d", bytes, len(sizes), room, least)
		}
	}
}
