package listcache

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// plainLRU is a cache that evicts the least recently used item and ignores fragmentation.
type plainLRU struct {
	words         []uint32
	room, used    uint64
	order         []uint32 // the last used at the end
	misses, bytes uint64
}

func (p *plainLRU) use(item uint32) {
	if i := slices.Index(p.order, item); i >= 0 {
		p.order = slices.Delete(p.order, i, i+1)
	} else {
		p.misses++
		p.bytes += 4 * uint64(p.words[item])
		p.used += uint64(p.words[item])
	}
	p.order = append(p.order, item)
	for p.used > p.room {
		p.used -= uint64(p.words[p.order[0]])
		p.order = p.order[1:]
	}
}

// logOf draws queries of lists with a popularity after Zipf's law, and scans of all lists in
// between. Lengths are log-uniform and do not depend on popularity.
func logOf(r *rand.Rand, lists, queries, scans int) (words []uint32, log [][]Use) {
	for range lists {
		words = append(words, uint32(math.Exp(r.Float64()*math.Log(1<<14))*16))
	}
	z := rand.NewZipf(r, 1.1, 20, uint64(lists-1))
	for i := range queries {
		q := []Use{{uint32(z.Uint64()), 1}}
		if x := uint32(z.Uint64()); x != q[0].Item {
			q = append(q, Use{x, 1})
		}
		log = append(log, q)
		if scans > 0 && i%(queries/scans) == queries/scans/2 {
			for h := range lists {
				log = append(log, []Use{{uint32(h), 1}})
			}
		}
	}
	return words, log
}

// TestPolicy replays logs with and without scans: the cache loads fewer lists and fewer bytes
// than LRU, which has no fragmentation, and uses most of the memory.
func TestPolicy(t *testing.T) {
	for _, scans := range []int{0, 4} {
		words, log := logOf(rand.New(rand.NewPCG(1, uint64(scans))), 1500, 15_000, scans)
		total := uint64(0)
		for _, w := range words {
			total += uint64(w)
		}
		for _, percent := range []uint64{10, 25, 50} {
			lru := &plainLRU{words: words, room: total * percent / 100}
			c := New(words, len(words), []uint64{lru.room})
			for _, q := range log {
				if _, ok := c.Pin(q, nil); !ok {
					t.Fatal("two lists do not fit")
				}
				c.Unpin(q)
				for _, u := range q {
					lru.use(u.Item)
				}
			}
			s := c.Stats()
			t.Logf("%d scans, %d %%: %d misses, %d bytes in, %.3f used; LRU: %d, %d", scans, percent,
				s.Misses, s.BytesIn, float64(s.Used)/float64(s.Capacity), lru.misses, lru.bytes)
			if 4*s.Misses > 3*lru.misses || s.BytesIn > lru.bytes {
				t.Errorf("%d scans, %d %%: %d misses, %d bytes in; LRU: %d, %d", scans, percent, s.Misses, s.BytesIn, lru.misses, lru.bytes)
			}
			if 10*s.Used < 9*s.Capacity {
				t.Errorf("%d scans, %d %%: %d of %d bytes are used", scans, percent, s.Used, s.Capacity)
			}
		}
	}
}

// TestDeterministic replays a log twice.
func TestDeterministic(t *testing.T) {
	words, log := logOf(rand.New(rand.NewPCG(3, 4)), 500, 3000, 1)
	replay := func() (fresh []uint32) {
		c := New(words, len(words), []uint64{1 << 17, 1 << 17})
		for _, q := range log {
			fresh, _ = c.Pin(q, fresh)
			c.Unpin(q)
		}
		return fresh
	}
	if !slices.Equal(replay(), replay()) {
		t.Error("the same log brings in other lists the second time")
	}
}

// BenchmarkPin measures a query of two lists, with memory for a quarter of the bytes.
func BenchmarkPin(b *testing.B) {
	words, log := logOf(rand.New(rand.NewPCG(5, 6)), 20_000, 100_000, 0)
	total := uint64(0)
	for _, w := range words {
		total += uint64(w)
	}
	c := New(words, len(words), []uint64{total / 4})
	var fresh []uint32
	for i := 0; b.Loop(); i++ {
		q := log[i%len(log)]
		fresh, _ = c.Pin(q, fresh[:0])
		c.Unpin(q)
	}
	s := c.Stats()
	b.ReportMetric(float64(s.Hits)/float64(s.Hits+s.Misses), "hits")
}
